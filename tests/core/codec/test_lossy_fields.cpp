// Measured fields: a hurricane, viscous fingers, winds. They lie in the folder that CAMBIUM_DATA names.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "core/codec/codec.hpp"
#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

struct Result {
  double ratio, psnr, worst;  ///< worst: largest error / bound
};

Result compress(const std::vector<float>& x, const std::vector<std::int64_t>& shape, double bound,
                LossyPredictor predictor) {
  const auto bytes = lossy_encode<float>(x, shape, {LossyBound::Kind::relative, bound}, predictor);
  std::vector<float> y(x.size());
  lossy_decode<float>(bytes, y);
  double low = x[0], high = x[0], most = 0.0, sum = 0.0;
  for (float v : x) low = std::min<double>(low, v), high = std::max<double>(high, v);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double d = std::abs(static_cast<double>(x[k]) - y[k]);
    most = std::max(most, d), sum += d * d;
  }
  return {4.0 * x.size() / bytes.size(), 20 * std::log10((high - low) / std::sqrt(sum / x.size())),
          most / (bound * (high - low))};
}

}  // namespace

TEST_CASE("real fields: the bound holds, ratio and error are those of a model of SZ3 or better", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: lossy codec on real fields: CAMBIUM_DATA is not set\n";
    return;
  }
  const auto file = io::File::open(std::string(data) + "/fields/fields.h5");
  // Ratio and PSNR at a relative bound of 1e-3 of a numpy model of SZ3 (cubic and linear interpolation, alpha 1.25,
  // beta 2, Huffman's code), which is not SZ3 itself.
  struct Case {
    const char* name;
    double ratio, psnr;
  };
  for (const auto& c : {Case{"isabel/wind_speed_30", 7.9, 65.1},
                        {"viscous_fingers/run01_040", 18.1, 66.6},
                        {"era_interim/u", 21.7, 66.5}}) {
    auto shape = file.dataset(c.name).shape();
    auto x = file.read<std::vector<float>>(c.name);
    if (shape.size() == 4) {  // the wind of January at 500 hPa
      x = std::vector<float>(x.begin() + 241 * 480, x.begin() + 2 * 241 * 480);
      shape = {241, 480};
    }
    for (double bound : {1e-2, 1e-3, 1e-4})
      for (auto predictor : {LossyPredictor::automatic, LossyPredictor::interpolation, LossyPredictor::lorenzo}) {
        const auto r = compress(x, shape, bound, predictor);
        INFO(c.name << " at " << bound << ": ratio " << r.ratio << ", PSNR " << r.psnr);
        CHECK(r.worst <= 1.0);
        if (bound != 1e-3 || predictor != LossyPredictor::automatic) continue;
        CHECK(r.ratio >= 0.95 * c.ratio);
        CHECK(r.psnr >= c.psnr - 0.5);
      }
  }
}
