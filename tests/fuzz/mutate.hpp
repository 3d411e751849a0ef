#pragma once
#include <cstdint>
#include <random>
#include <string>

namespace fuzz {

using Random = std::mt19937_64;

/// A whole number from 0 to below `n`; 0 for n = 0.
inline std::size_t below(Random& random, std::size_t n) { return n ? static_cast<std::size_t>(random() % n) : 0; }

/// A text with one to three changes: a number becomes an extreme one, a line goes, comes twice or changes places, a
/// word becomes another word of the text, the end is missing, bytes are replaced.
std::string mutate_text(std::string text, Random& random);

/// Bytes with one to three changes: bits flipped, a stretch of zeros, a stretch gone or doubled, the end missing.
std::string mutate_bytes(std::string bytes, Random& random);

/// Changes an HDF5 file in place as a program could have written it: a dataset or an attribute is gone, is shorter,
/// empty or longer, holds extreme numbers or other texts, is of another type. The file stays a sound HDF5 file.
void mutate_h5(const std::string& path, Random& random);

}  // namespace fuzz
