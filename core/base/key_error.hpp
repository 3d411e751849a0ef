#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace cambium {

/// InputError about one key of the deck, in structured form: the code that created the throwing type knows the location
/// of its keys and prepends file, line and path.
class KeyError : public InputError {
 public:
  /// `id`: stable, "md.timestep.range"; a literal that docs/errors.md lists. `key`: its path from the thrower's own
  /// keys, "structure.file", "terms[1].cutoff"; empty: all of them. `column`: of the character at fault in the key's
  /// text, from 1; 0: all of it.
  KeyError(std::string id, std::string key, const std::string& text, std::size_t column = 0)
      : InputError(text), id_(std::move(id)), key_(std::move(key)), column_(column) {}

  const std::string& id() const { return id_; }
  const std::string& key() const { return key_; }
  std::size_t column() const { return column_; }

 private:
  std::string id_, key_;
  std::size_t column_;
};

}  // namespace cambium
