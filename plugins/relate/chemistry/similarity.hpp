#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::relate {

/// (n, n): cosine similarity of texts by log(1 + count) of their k-mers of these lengths. 0 between texts without
/// k-mers.
std::vector<double> text_similarity(std::span<const std::string> texts, std::span<const int> lengths);

/// Makes a similarity symmetric, with ones on its diagonal: (S + S^T) / 2 / sqrt(s_i s_j).
void normalise_similarity(std::vector<double>& similarity, std::int64_t n);

}  // namespace cambium::relate
