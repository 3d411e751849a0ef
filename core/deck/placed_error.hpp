#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/deck/problems.hpp"

namespace cambium::deck {

/// One complaint with its place in front: "file:line:col: path: text". `id` is empty where the error has none.
struct PlacedText {
  std::string text, id;
  /// With the identifier behind, for --verbose: "text [md.timestep.range]".
  std::string with_id() const;
  bool operator==(const PlacedText&) const = default;
};

/// Complaints that have their places, and identifiers.
class PlacedError : public DeckError {
 public:
  explicit PlacedError(const PlacedText& one) : DeckError(one.text), verbose_(one.with_id()), id_(one.id) {}
  /// `last`: a line behind all of them; none where it is empty.
  explicit PlacedError(const std::vector<PlacedText>& all, const std::string& last = "");
  /// what() with the identifiers.
  const std::string& verbose() const { return verbose_; }
  /// For a single complaint.
  const std::string& id() const { return id_; }

 private:
  std::string verbose_, id_;
};

/// Value at a path from `keys`, "structure.file" or "terms[1].cutoff". Where the deck leaves it at its default: the
/// innermost of those around it that is there.
Node value_at(const Node& keys, std::string_view path);

/// The text of `error` with the place of the key that it names (KeyError), else that of `keys`, in front.
PlacedText placed(const InputError& error, const Node& keys);
PlacedText placed(const std::string& text, const Node& keys);

}  // namespace cambium::deck
