#include "plugins/relate/chemistry/words.hpp"

#include <fmt/format.h>

#include <cctype>

#include "core/base/error.hpp"

namespace cambium::relate {

std::int64_t words_in_all(std::int64_t letters) {
  std::int64_t out = 1;
  for (std::int64_t k = 0; k < letters; ++k) out *= 26;
  return out;
}

std::vector<std::int32_t> word_rows(std::string_view sequence, std::int64_t letters) {
  const auto length = std::ssize(sequence);
  for (std::int64_t k = 0; k < length; ++k)
    if (!std::isalpha(static_cast<unsigned char>(sequence[k])))
      throw InputError(fmt::format("letter {} of the sequence is '{}'; residues are letters", k + 1, sequence[k]));
  if (length < letters)
    throw InputError(
        fmt::format("the sequence has {} letters, but a word has {}; give the full sequence, or take shorter words",
                    length, letters));
  std::vector<std::int32_t> out;
  for (std::int64_t k = 0; k + letters <= length; ++k) {
    std::int32_t word = 0;
    for (std::int64_t j = 0; j < letters; ++j)
      word = 26 * word + (std::toupper(static_cast<unsigned char>(sequence[k + j])) - 'A');
    out.push_back(word);
  }
  return out;
}

}  // namespace cambium::relate
