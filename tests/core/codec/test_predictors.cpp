// Predictors on fields of known make: the bound holds, `automatic` is never longer than either predictor alone, and no
// mode of SZ3 is shorter.
#include <string_view>

#include "core/codec/choose.hpp"
#include "core/codec/codec.hpp"
#include "tests/catch.hpp"
#include "tests/core/codec/synthetic_fields.hpp"
#include "tests/core/codec/worst.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

constexpr double bounds[] = {1e-2, 1e-3, 1e-4};

std::vector<std::byte> encoded(const SyntheticField& field, double bound, LossyPredictor predictor) {
  return lossy_encode<float>(field.values, field.shape, {LossyBound::Kind::relative, bound}, predictor);
}

std::vector<std::byte> from_hexadecimal(std::string_view digits) {
  std::vector<std::byte> out;
  for (std::size_t k = 0; k + 1 < digits.size(); k += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(digits.substr(k, 2)), nullptr, 16)));
  return out;
}

}  // namespace

TEST_CASE("synthetic fields: bounds hold, both predictors are tried, and SZ3's better mode is never shorter") {
  for (const auto& field : synthetic_fields())
    for (int k = 0; k < 3; ++k) {
      INFO(field.name << " at " << bounds[k]);
      const auto best = encoded(field, bounds[k], LossyPredictor::automatic);
      for (const auto predictor : {LossyPredictor::interpolation, LossyPredictor::lorenzo}) {
        const auto alone = encoded(field, bounds[k], predictor);
        CHECK(best.size() <= alone.size());
        std::vector<float> back(field.values.size());
        lossy_decode<float>(alone, back);
        CHECK(worst(field.values, back, lossy_info(alone).bound) <= 1.0);
      }
      CHECK(best.size() <= field.sz3[k]);
    }
}

TEST_CASE("each form of a predictor is chosen where it is the shortest") {
  const auto fields = synthetic_fields();
  const auto named = [&](const std::string& name) {
    return *std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
  };
  const auto differences = [&](const std::string& name, double share) {
    const auto field = named(name);
    const auto [low, high] = std::minmax_element(field.values.begin(), field.values.end());
    return choose_differences(field.values.data(), FieldShape(field.shape), share * (*high - *low)).coding;
  };
  CHECK(differences("noise_1d", 1e-3).order[3] == 0);
  CHECK(differences("walk_1d", 1e-3).order[3] == 1);
  CHECK(differences("sines_1d", 1e-4).order[3] == 2);
  const auto of_rows = differences("rows_2d", 1e-3);  // walks that know nothing of each other
  CHECK(of_rows.order[2] == 0);
  CHECK(of_rows.order[3] == 1);
  // Almost exact anchors: a plane is shorter by them than by the level bounds that are usual.
  const auto plane = named("plane_2d");
  const auto exact_at_anchors = encoded(plane, 1e-3, LossyPredictor::interpolation);
  const auto usual = lossy_encode<float>(plane.values, plane.shape, {LossyBound::Kind::relative, 1e-3, true},
                                         LossyPredictor::interpolation);
  CHECK(exact_at_anchors.size() < usual.size());
}

TEST_CASE("a value of zero stays zero in differences, where others have their lattice shifted") {
  std::vector<float> x(4096);
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<float>(0.0749 + 1e-3 * synthetic::noise(k, 9));  // a constant between two steps of 0.01
  const std::int64_t shape[] = {64, 64};
  const auto with_shift = choose_differences(x.data(), FieldShape(shape), 0.005).coding;
  CHECK(with_shift.shift != 0);
  x[77] = 0.0f;
  CHECK(choose_differences(x.data(), FieldShape(shape), 0.005).coding.shift == 0);
  std::vector<float> back(x.size());
  lossy_decode<float>(lossy_encode<float>(x, shape, {LossyBound::Kind::absolute, 0.005}, LossyPredictor::lorenzo),
                      back);
  CHECK(back[77] == 0.0f);
}

TEST_CASE("streams of former versions are read") {
  // round(1024 sin(i / 5) cos(3 j / 10)) / 1024 on 12 x 13 points within 0.01.
  const auto expected = [](int i, int j) { return std::round(1024 * std::sin(0.2 * i) * std::cos(0.3 * j)) / 1024; };
  for (const auto* digits : {"434c5359010401027b14ae47e17a843f0c000000000000000d00000000000000830100000000000028b52ffd6"
                             "483001504001405040000803f"
                             "080c0000003f9a06ed3d2d5f62877f0000dc00060006060605040401050505060605000606130000007ed3cd8"
                             "f7ec6626b5aa675df191ca3"
                             "a9e05d0007000000a5bb1008000000a4af7b000514006760ac6205184e317da7b5144360c5a41e000208f5501"
                             "726b030df50880212065878"
                             "0320aca6cd003bd3b04a11e9757dde5c2a4d1808000000997edd17323f1762",
                             "434c5359010402027b14ae47e17a843f0c000000000000000d000000000000008a0000000000000028b52ffd2"
                             "48a1d030014050000fb7f00"
                             "001000070703030202030400000707000706070e005555557f85b24b4779ad92cb5700f0096580efc30b280bf"
                             "50b6941c00cf8d4a54579c0"
                             "202ec8b84ca015c672afb797b672beb1ddb7672806004d9104e43a2751c00860800a680372b6cc6f5c2a4d180"
                             "8000000832dd1e1eff9b256"}) {
    const auto stream = from_hexadecimal(digits);
    std::vector<float> y(12 * 13);
    lossy_decode<float>(stream, y);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 13; ++j) CHECK(std::abs(static_cast<double>(y[13 * i + j]) - expected(i, j)) <= 0.01 + 1e-3);
  }
}
