#pragma once
#include <cstdint>
#include <vector>

namespace cambium::train {

enum class Draw { orthogonal, independent };

/// `features` rows of `width` normal random values, a function of (seed, number). Orthogonal: in blocks of `width` rows
/// the directions are orthogonal (Gram-Schmidt on normal rows), with the lengths of other normal rows, so each row has
/// the same distribution as without (Choromanski et al. 2021, section 3.2 and appendix B.2).
std::vector<double> random_features(std::uint64_t seed, std::uint64_t number, int features, int width,
                                    Draw draw = Draw::orthogonal);

}  // namespace cambium::train
