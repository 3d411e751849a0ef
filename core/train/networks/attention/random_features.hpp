#pragma once
#include <cstdint>
#include <vector>

namespace cambium::train {

enum class Draw { orthogonal, independent };

/// `features` rows of `width` normal deviates, a function of (seed, number). Orthogonal: in blocks of `width` rows the
/// directions are orthogonal (Gram and Schmidt, of normal rows), and the lengths are those of other normal rows, so
/// that each row by itself is distributed as without (Choromanski et al. 2021, section 3.2 and appendix B.2).
std::vector<double> random_features(std::uint64_t seed, std::uint64_t number, int features, int width,
                                    Draw draw = Draw::orthogonal);

}  // namespace cambium::train
