#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/deck/problems.hpp"

namespace cambium::deck {

/// One problem with its location: "file:line:col: path: text". `id` is empty if the error has none.
struct PlacedText {
  std::string text, id;
  /// With the identifier appended, for --verbose: "text [md.timestep.range]".
  std::string with_id() const;
  bool operator==(const PlacedText&) const = default;
};

/// Problems with their locations and identifiers.
class PlacedError : public DeckError {
 public:
  explicit PlacedError(const PlacedText& one) : DeckError(one.text), verbose_(one.with_id()), id_(one.id) {}
  /// `last`: a line after all of them; none if empty.
  explicit PlacedError(const std::vector<PlacedText>& all, const std::string& last = "");
  /// what() with the identifiers.
  const std::string& verbose() const { return verbose_; }
  /// For a single complaint.
  const std::string& id() const { return id_; }

 private:
  std::string verbose_, id_;
};

/// Value at a path from `keys`, "structure.file" or "terms[1].cutoff". If the deck leaves it at its default: the
/// innermost enclosing value that is given.
Node value_at(const Node& keys, std::string_view path);

/// The text of `error`, prefixed by the location of the key that it names (KeyError), else by that of `keys`.
PlacedText placed(const InputError& error, const Node& keys);
PlacedText placed(const std::string& text, const Node& keys);

}  // namespace cambium::deck
