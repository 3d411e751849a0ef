// Measured fields: a hurricane, viscous fingers, winds and heights. They lie in the folder that CAMBIUM_DATA names.
#include "core/codec/codec.hpp"
#include "core/codec/fields/enhanced.hpp"
#include "core/codec/zfp_codec.hpp"
#include "tests/catch.hpp"
#include "tests/core/codec/sz3_table.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

struct Result {
  double ratio, psnr, worst;  ///< worst: largest error / bound
};

Result compress(const MeasuredField& field, LossyBound bound, LossyPredictor predictor) {
  const auto& x = field.values;
  const auto bytes = lossy_encode<float>(x, field.shape, bound, predictor);
  std::vector<float> y(x.size());
  lossy_decode<float>(bytes, y);
  double most = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) most = std::max(most, std::abs(static_cast<double>(x[k]) - y[k]));
  return {4.0 * static_cast<double>(x.size()) / static_cast<double>(bytes.size()), psnr<float>(x, y),
          most / lossy_info(bytes).bound};
}

Result learned(const MeasuredField& field, LossyBound bound) {
  const auto& x = field.values;
  EnhancedReport report;
  const auto bytes = enhanced_encode<float>(x, field.shape, bound, LossyPredictor::automatic, {}, {}, report);
  std::vector<float> y(x.size());
  REQUIRE(report.kept);
  enhanced_decode<float>(bytes, y);
  return {4.0 * static_cast<double>(x.size()) / static_cast<double>(bytes.size()), psnr<float>(x, y), 0.0};
}

}  // namespace

TEST_CASE("real fields: the bound holds, and no mode of SZ3 makes them smaller", "[data]") {
  for (const auto& field : measured_fields("lossy codec on real fields"))
    for (const auto& rival : field.baselines) {
      const LossyBound bound{LossyBound::Kind::relative, rival.bound};
      for (auto predictor : {LossyPredictor::interpolation, LossyPredictor::lorenzo})
        CHECK(compress(field, bound, predictor).worst <= 1.0);
      const auto r = compress(field, bound, LossyPredictor::automatic);
      INFO(field.name << " at " << rival.bound << ": ratio " << r.ratio << " (SZ3 " << rival.ratio << "), PSNR "
                      << r.psnr << " (SZ3 " << rival.psnr << ")");
      CHECK(r.worst <= 1.0);
      CHECK(r.ratio >= rival.ratio);
      CHECK(r.psnr >= 60.0 - 20 * std::log10(rival.bound / 1e-3) + 4.7);
    }
}

TEST_CASE("real fields: at equal PSNR, streams half as long as ZFP's in the mean, in one of 24 longer", "[data]") {
  if (!has_zfp()) {
    std::cout << "SKIPPED: lossy codec beside ZFP: this build has no ZFP\n";
    return;
  }
  double ours = 0.0, zfp = 0.0;
  int longer = 0;
  for (const auto& field : measured_fields("lossy codec beside ZFP"))
    for (const auto& rival : field.baselines) {
      const LossyBound bound{LossyBound::Kind::psnr, rival.psnr};
      const auto a = compress(field, bound, LossyPredictor::automatic);
      const auto b = compress(field, bound, LossyPredictor::zfp);
      INFO(field.name << " at " << rival.psnr << " dB: ratio " << a.ratio << ", ZFP " << b.ratio);
      CHECK(a.psnr >= rival.psnr);
      if (a.ratio <= b.ratio) {
        ++longer;
        CHECK(learned(field, bound).ratio > b.ratio);
      }
      ours += std::log(a.ratio);
      zfp += std::log(b.ratio);
    }
  if (zfp == 0.0) return;  // no data: nothing is asserted, so that the program says it skipped
  CHECK(longer <= 1);      // viscous fingers, frame 040 of run 01, at 86.6 dB: by a hundredth
  CHECK(std::exp((ours - zfp) / 24) >= 2.0);
}
