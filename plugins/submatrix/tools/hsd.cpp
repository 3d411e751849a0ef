#include "plugins/submatrix/tools/hsd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::submatrix {

namespace {

class HsdReader {
 public:
  HsdReader(std::string path, int depth) : path_(std::move(path)), depth_(depth), text_(text_of_file(path_)) {}
  /// Reads entries up to the brace that closes `node`; the outermost one ends with the file.
  void block(HsdNode& node, bool outermost);

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(fmt::format("{}:{}: {}", path_, line_, problem));
  }
  bool ended() const { return at_ >= text_.size(); }
  char next() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }
  void skip_blanks(const char* blanks);
  bool starts(const char* sign) const { return text_.compare(at_, std::char_traits<char>::length(sign), sign) == 0; }
  /// Text up to one of `ends`, which is left; comments are skipped, quotes taken off.
  std::string until(const char* ends);
  std::string quoted();
  void include(HsdNode& node);
  void entry(HsdNode& node, const std::string& head, char end);
  void value(HsdNode& child);

  std::string path_;
  int depth_;
  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

void HsdReader::skip_blanks(const char* blanks) {
  while (!ended()) {
    if (text_[at_] == '#')
      while (!ended() && text_[at_] != '\n') next();
    else if (std::string_view(blanks).find(text_[at_]) != std::string_view::npos)
      next();
    else
      return;
  }
}

std::string HsdReader::quoted() {
  const char quote = next();
  const int from = line_;
  std::string out;
  while (!ended() && text_[at_] != quote) out += next();
  if (ended()) {
    line_ = from;
    fail(fmt::format("a quote ({}) is not closed", quote));
  }
  next();
  return out;
}

std::string HsdReader::until(const char* ends) {
  std::string out;
  while (!ended() && std::string_view(ends).find(text_[at_]) == std::string_view::npos) {
    if (text_[at_] == '"' || text_[at_] == '\'')
      out += quoted();
    else if (text_[at_] == '#')
      while (!ended() && text_[at_] != '\n') next();
    else
      out += next();
  }
  return out;
}

/// <<< "file": its text; <<+ "file": its entries.
void HsdReader::include(HsdNode& node) {
  const bool entries = starts("<<+");
  at_ += 3;
  const std::string read = until("\n;}"), name(trim(read));
  const auto path = (std::filesystem::path(path_).parent_path() / name).lexically_normal().string();
  constexpr int deepest = 20;
  if (depth_ >= deepest) fail(fmt::format("includes are nested {} times: does a file include itself?", deepest));
  if (!std::filesystem::is_regular_file(path)) fail(fmt::format("there is no file {} to include", path));
  if (entries) {
    HsdReader(path, depth_ + 1).block(node, true);
    return;
  }
  if (node.text.empty() && node.children.empty()) node.included = path;
  node.text += text_of_file(path) + "\n";
}

/// What stands behind an equals sign.
void HsdReader::value(HsdNode& child) {
  skip_blanks(" \t");
  if (!ended() && text_[at_] == '{') {
    next();
    block(child, false);
    return;
  }
  const std::string text = until("\n;{}");
  if (ended() || text_[at_] != '{') {
    child.text = trim(text);
    return;
  }
  next();
  HsdNode method;
  method.name = trim(text);
  method.line = line_;
  block(method, false);
  child.children.push_back(std::move(method));
}

void HsdReader::entry(HsdNode& node, const std::string& head, char end) {
  HsdNode child;
  child.line = line_;
  child.name = head;
  if (const auto open = head.find('['); open != std::string::npos) {
    const auto close = head.rfind(']');
    if (close == std::string::npos || close < open) fail(fmt::format("the bracket in '{}' is not closed", head));
    child.unit = trim(head.substr(open + 1, close - open - 1));
    child.name = trim(head.substr(0, open));
  }
  if (child.name.empty()) fail(fmt::format("expected the name of a key before '{}'", end));
  if (std::string_view("+*?!/").find(child.name[0]) != std::string_view::npos)
    fail(fmt::format("'{}': the signs of merged inputs are not converted; write the merged input", child.name));
  next();
  if (end == '=')
    value(child);
  else
    block(child, false);
  node.children.push_back(std::move(child));
}

void HsdReader::block(HsdNode& node, bool outermost) {
  const int from = line_;
  for (;;) {
    skip_blanks(" \t\r\n;");
    if (ended()) {
      if (outermost) return;
      line_ = from;
      fail(fmt::format("the brace of {} is not closed", node.name));
    }
    if (text_[at_] == '}') {
      if (outermost) fail("a closing brace without an opening one");
      next();
      return;
    }
    if (starts("<<<") || starts("<<+")) {
      include(node);
      continue;
    }
    const std::string read = until("=\n;{}"), head(trim(read));
    if (!ended() && (text_[at_] == '=' || text_[at_] == '{'))
      entry(node, head, text_[at_]);
    else
      node.text += head + "\n";
  }
}

}  // namespace

HsdNode read_hsd(const std::string& path) {
  HsdNode out;
  HsdReader(path, 0).block(out, true);
  return out;
}

}  // namespace cambium::submatrix
