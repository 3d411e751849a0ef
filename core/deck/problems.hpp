#pragma once
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/deck/node.hpp"

namespace cambium::deck {

/// Error in a deck, with its location: one line each, "file:line:col: path: text", followed by "3 problems in FILE"; or
/// the single problem of a type that could not be constructed.
class DeckError : public InputError {
 public:
  using InputError::InputError;
};

/// "file:line:col: path: text", as far as known.
struct Problem {
  Mark mark;
  std::string path, text;
  std::string line() const;
};

/// Collects all problems, so that a user can fix a deck in one pass.
class Problems {
 public:
  void add(const Node& at, std::string text) { add(at.mark(), at.path(), std::move(text)); }
  /// The same problem at the same location is kept once.
  void add(Mark mark, std::string path, std::string text);

  /// Hint about a valid deck: a renamed key or type. The same hint at one location is kept once.
  void hint(Mark mark, std::string path, std::string text);
  const std::vector<Problem>& hints() const { return hints_; }

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const std::vector<Problem>& all() const { return all_; }
  /// In the order of the file, with the closing line.
  std::string text() const;
  /// Throws DeckError unless empty.
  void throw_if_any() const;

 private:
  std::vector<Problem> all_, hints_;
};

}  // namespace cambium::deck
