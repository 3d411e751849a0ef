#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/io/text_lines.hpp"

namespace cambium::io {

/// The comment line of a frame of extended XYZ: keys and their values, by the rules of libAtoms/extxyz and of ASE
/// together. A key is bare or quoted; blanks may stand around =, and a key without = means T. A value is bare (to the
/// next blank), in double or single quotes, in braces or in brackets, which may be nested; a backslash takes the next
/// character literally (\n ends a line). Numbers and logicals of a value are separated by blanks, commas and brackets
/// ("1 0 0", [1, 0, 0], [[1, 0, 0], [0, 1, 0]]), also after ASE's prefix _JSON.
class ExtxyzComment {
 public:
  struct Pair {
    std::string key, value;
  };

  /// Reads the file's current line. Throws InputError with file:line for a quote or bracket that is not closed.
  explicit ExtxyzComment(const TextLines& file);
  ExtxyzComment() = default;

  const std::vector<Pair>& pairs() const { return pairs_; }
  /// The pair of a key: exact spelling first, then case-insensitive, as GPUMD and QUIP read keys; nullptr if there is
  /// none. InputError if the key occurs with two values.
  const Pair* find(const TextLines& file, std::string_view key) const;

  /// Numbers of a value; InputError if it contains anything else.
  static std::vector<double> numbers(const TextLines& file, const Pair& pair);
  /// T, F, true, false, 1, 0 in any case; InputError for anything else.
  static std::vector<bool> logicals(const TextLines& file, const Pair& pair);

 private:
  std::vector<Pair> pairs_;
};

/// True if two words differ at most in case.
bool same_letters(std::string_view a, std::string_view b);

}  // namespace cambium::io
