#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::relate {

/// (n, n): how alike texts are, as the cosine between the logarithms of one more than the counts of their pieces of
/// these lengths. 0 between texts without pieces.
std::vector<double> text_similarity(std::span<const std::string> texts, std::span<const int> lengths);

/// A similarity made symmetric, with ones on its diagonal: (S + S^T) / 2 / sqrt(s_i s_j).
void normalise_similarity(std::vector<double>& similarity, std::int64_t n);

}  // namespace cambium::relate
