#include "core/io/structures/extxyz_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace cambium::io {

namespace {

bool between_pairs(char c) { return c == ' ' || c == '\t'; }

char closing_mark(char open) {
  switch (open) {
    case '"':
    case '\'':
      return open;
    case '{':
      return '}';
    case '[':
      return ']';
    default:
      return 0;
  }
}

/// Walks along a comment line.
class CommentScanner {
 public:
  explicit CommentScanner(const TextLines& file) : file_(file), line_(file.line()) {}

  std::vector<ExtxyzComment::Pair> pairs() {
    std::vector<ExtxyzComment::Pair> out;
    while (skip_separators(), at_ < line_.size()) {
      auto& pair = out.emplace_back();
      pair.key = key();
      const std::size_t behind = at_;
      skip_blanks();
      if (at_ < line_.size() && line_[at_] == '=') {
        ++at_;
        pair.value = value(pair.key);
      } else {
        at_ = behind;
        pair.value.assign(1, 'T');
      }
    }
    return out;
  }

 private:
  void skip_blanks() {
    while (at_ < line_.size() && between_pairs(line_[at_])) ++at_;
  }
  void skip_separators() {
    while (at_ < line_.size() && (between_pairs(line_[at_]) || line_[at_] == ',')) ++at_;
  }

  std::string key() {
    if (line_[at_] == '"' || line_[at_] == '\'')
      if (const auto end = quote_end(at_)) return quoted(*end);
    std::string out;
    // Free text may begin with any character: one is always consumed.
    do out += character();
    while (at_ < line_.size() && !between_pairs(line_[at_]) && line_[at_] != '=');
    return out;
  }

  std::string value(const std::string& key) {
    const std::size_t equals = at_;
    skip_blanks();
    if (at_ == line_.size()) return {};
    const char open = line_[at_], close = closing_mark(open);
    if (close == 0) return bare(equals != at_);
    const auto end = open == close ? quote_end(at_) : bracket_end(at_);
    if (!end) file_.fail(fmt::format("the value of {} has no closing {}", key, close));
    return open == close ? quoted(*end) : bracketed(*end);
  }

  /// Up to the next blank. "a= b=1": a has no value if a blank follows its sign and a key follows that.
  std::string bare(bool after_blank) {
    const std::size_t start = at_;
    std::string out;
    while (at_ < line_.size() && !between_pairs(line_[at_])) {
      if (after_blank && line_[at_] == '=') {
        at_ = start;
        return {};
      }
      out += character();
    }
    return out;
  }

  /// One character, or the one that a backslash escapes.
  char character() {
    if (line_[at_] != '\\' || at_ + 1 == line_.size()) return line_[at_++];
    at_ += 2;
    return line_[at_ - 1] == 'n' ? '\n' : line_[at_ - 1];
  }

  /// Index of the closing quote for the quote at `from`.
  std::optional<std::size_t> quote_end(std::size_t from) const {
    for (std::size_t k = from + 1; k < line_.size(); ++k) {
      if (line_[k] == '\\')
        ++k;
      else if (line_[k] == line_[from])
        return k;
    }
    return {};
  }

  /// Index of the closing mark of the bracket or brace at `from`; those inside quotes do not count, unless nothing
  /// closes then (an apostrophe in free text is not a quote).
  std::optional<std::size_t> bracket_end(std::size_t from) const {
    for (const bool quotes : {true, false})
      if (const auto end = bracket_end(from, quotes)) return end;
    return {};
  }
  std::optional<std::size_t> bracket_end(std::size_t from, bool quotes) const {
    const char open = line_[from], close = closing_mark(open);
    int depth = 0;
    for (std::size_t k = from; k < line_.size(); ++k) {
      const char c = line_[k];
      if (c == '\\') {
        ++k;
      } else if (quotes && (c == '"' || c == '\'')) {
        const auto end = quote_end(k);
        if (!end) return {};
        k = *end;
      } else if (c == open) {
        ++depth;
      } else if (c == close && --depth == 0) {
        return k;
      }
    }
    return {};
  }

  std::string quoted(std::size_t end) {
    std::string out;
    for (++at_; at_ < end;) out += character();
    at_ = end + 1;
    return out;
  }

  std::string bracketed(std::size_t end) {
    std::string out = line_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return out;
  }

  const TextLines& file_;
  const std::string& line_;
  std::size_t at_ = 0;
};

/// The parts of a value that blanks, commas and brackets separate.
std::vector<std::string_view> parts_of_value(std::string_view text) {
  constexpr std::string_view mark = "_JSON", between = " \t\r\n,[]{}";
  text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  std::vector<std::string_view> out;
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(between, end);
  }
  return out;
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

ExtxyzComment::ExtxyzComment(const TextLines& file) : pairs_(CommentScanner(file).pairs()) {}

const ExtxyzComment::Pair* ExtxyzComment::find(const TextLines& file, std::string_view key) const {
  const auto search = [&](auto equal) {
    const Pair* found = nullptr;
    for (const Pair& pair : pairs_) {
      if (!equal(pair.key)) continue;
      if (found && found->value != pair.value)
        file.fail(fmt::format("the key {} occurs twice, with '{}' and with '{}': leave one of them out", key,
                              found->value, pair.value));
      found = &pair;
    }
    return found;
  };
  const Pair* exact = search([&](const std::string& other) { return other == key; });
  return exact ? exact : search([&](const std::string& other) { return same_letters(other, key); });
}

std::vector<double> ExtxyzComment::numbers(const TextLines& file, const Pair& pair) {
  std::vector<double> out;
  for (const auto part : parts_of_value(pair.value)) out.push_back(file.real(part, pair.key));
  return out;
}

std::vector<bool> ExtxyzComment::logicals(const TextLines& file, const Pair& pair) {
  std::vector<bool> out;
  for (const auto part : parts_of_value(pair.value)) {
    const auto is = [&](const char* word) { return same_letters(part, word); };
    const bool yes = is("T") || is("true") || is("1"), no = is("F") || is("false") || is("0");
    if (!yes && !no)
      file.fail(
          fmt::format("{}=\"{}\": expected T or F (or true, false, 1, 0), found '{}'", pair.key, pair.value, part));
    out.push_back(yes);
  }
  return out;
}

}  // namespace cambium::io
