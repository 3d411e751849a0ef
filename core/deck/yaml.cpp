// The only file that includes yaml-cpp: text to Node and back.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/node.hpp"

namespace cambium::deck {

namespace {

// Aliases of aliases can unfold without end, and so can the text that they stand for.
constexpr std::size_t most_values = 1'000'000, most_bytes = 20'000'000, deepest = 100;

constexpr const char* choice_tag = "!choice";

Mark mark_of(const YAML::Mark& mark, std::string_view source) {
  return {std::string(source), mark.line + 1, mark.column + 1};
}

/// Builds nodes from the parser's events, one document at a time.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string_view source) : source_(source) {}
  Node document;
  Mark start;

  void OnDocumentStart(const YAML::Mark& mark) override { start = place(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { take(Node::null(place(mark)), {1, 0}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_choice(tag, mark);
    refuse_unknown(tag, mark);
    take(Node::scalar(text, tag == "!", place(mark)), {1, text.size()}, anchor);  // the tag of quoted text
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end())
      throw InputError(fmt::format("{}: this alias is inside the value that it refers to", place(mark).text()));
    take(known->second.node, known->second.size, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (tag != choice_tag) refuse_unknown(tag, mark);
    open(false, mark, anchor);
    open_.back().alternatives = tag == choice_tag;
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_choice(tag, mark);
    refuse_unknown(tag, mark);
    open(true, mark, anchor);
  }
  void OnSequenceEnd() override {
    Open done = close();
    if (done.alternatives && done.items.empty()) refuse_choice(choice_tag, {}, done.mark);
    take(done.alternatives ? Node::alternatives(std::move(done.items), done.mark)
                           : Node::list(std::move(done.items), done.mark),
         done.size, done.anchor);
  }
  void OnMapEnd() override {
    Open done = close();
    merge(done.entries);
    take(Node::map(std::move(done.entries), done.mark), done.size, done.anchor);
  }

 private:
  /// For a value with all that it holds, aliases unfolded: values, and bytes of their texts.
  struct Size {
    std::size_t values = 1, bytes = 0;
  };

  /// A list or map that is still open.
  struct Open {
    Open(bool map, Mark place, YAML::anchor_t name) : is_map(map), mark(std::move(place)), anchor(name) {}
    bool is_map, alternatives = false;
    Mark mark;
    YAML::anchor_t anchor;
    Size size;
    std::vector<Node> items;
    std::vector<Node::Entry> entries;
    Node key;  ///< of a map: read, its value not yet
  };
  struct Known {
    Node node;
    Size size;
  };

  void open(bool map, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() == deepest)
      throw InputError(fmt::format("{}: lists and maps inside of each other, {} deep; a deck may be {} deep",
                                   place(mark).text(), deepest + 1, deepest));
    open_.emplace_back(map, place(mark), anchor);
  }

  void refuse_choice(const std::string& tag, const YAML::Mark& mark, const std::optional<Mark>& known = {}) const {
    if (tag == choice_tag)
      throw InputError(fmt::format("{}: !choice must precede a list of alternatives, such as !choice [16, 32]",
                                   (known ? *known : place(mark)).text()));
  }

  /// Standard YAML tags are ignored here, since the key determines the type of a value. Those of other programs would
  /// require unsupported actions: !include, !env.
  void refuse_unknown(const std::string& tag, const YAML::Mark& mark) const {
    constexpr std::string_view of_yaml = "tag:yaml.org,2002:";
    static const std::set<std::string_view> known{"str", "int", "float", "bool", "null", "map", "seq"};
    const bool standard = tag.starts_with(of_yaml);
    const auto name = std::string_view(tag).substr(standard ? of_yaml.size() : 0);
    if (tag.empty() || tag == "?" || tag == "!" || (standard && known.contains(name))) return;
    throw InputError(
        fmt::format("{}: found the tag '{}{}', expected a value without one; the only tag of decks is !choice",
                    place(mark).text(), standard ? "!!" : "", name));
  }

  Mark place(const YAML::Mark& mark) const { return mark_of(mark, source_); }

  /// Inserts the keys of maps that `<<` names (the merge key of yaml.org/type/merge.html) in its position. Keys of the
  /// map itself, or of an earlier one of these maps, take precedence.
  void merge(std::vector<Node::Entry>& entries) const {
    const auto is_merge = [](const Node::Entry& entry) { return entry.key == "<<"; };
    if (std::none_of(entries.begin(), entries.end(), is_merge)) return;
    std::set<std::string> own;
    for (const auto& entry : entries)
      if (!is_merge(entry)) own.insert(entry.key);
    std::vector<Node::Entry> merged;
    for (auto& entry : entries) {
      if (!is_merge(entry)) {
        merged.push_back(std::move(entry));
        continue;
      }
      for (const Node& map : entry.value.is_list() ? entry.value.items() : std::vector<Node>{entry.value}) {
        if (!map.is_map())
          throw InputError(fmt::format("{}: << takes a map, or a list of maps, as in <<: *name", entry.mark.text()));
        for (const auto& taken : map.entries())
          if (own.insert(taken.key).second) merged.push_back(taken);
      }
    }
    entries = std::move(merged);
  }

  Open close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    return done;
  }

  void take(Node node, Size size, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = {node, size};
    if (open_.empty()) {
      document = std::move(node);
      return;
    }
    Open& into = open_.back();
    into.size.values += size.values;
    into.size.bytes += size.bytes;
    if (into.size.values > most_values)
      throw InputError(fmt::format("{}: more than {} values, aliases unfolded", into.mark.text(), most_values));
    if (into.size.bytes > most_bytes)
      throw InputError(fmt::format("{}: more than {} bytes of text, aliases unfolded", into.mark.text(), most_bytes));
    if (!into.is_map) {
      into.items.push_back(std::move(node));
    } else if (!into.key.defined()) {
      if (!node.is_scalar()) throw InputError(fmt::format("{}: found a key that is no word", node.mark().text()));
      into.key = std::move(node);
    } else {
      // "key:" with nothing after it has no location of its own.
      if (node.is_null()) node = Node::null(into.key.mark());
      into.entries.push_back({into.key.text(), into.key.mark(), std::move(node)});
      into.key = Node();
    }
  }

  std::string_view source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Known> anchors_;
};

bool plain(const Node& scalar) {
  const std::string& text = scalar.text();
  if (scalar.quoted() || text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  if (text.front() == '-' && !parse_number(text)) return false;
  return text != "~" && text != "null" && text.find_first_of("{}[],#:&*!|>'\"%@`?\n\t\\") == std::string::npos;
}

std::string scalar_text(const Node& node) {
  if (!node.is_scalar()) return "~";
  if (plain(node)) return node.text();
  std::string out = "\"";
  for (const char c : node.text()) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  out.push_back('"');
  return out;
}

bool fits_one_line(const Node& node) {
  if (node.is_map()) return node.size() == 0;
  for (const auto& item : node.items())
    if (item.is_map() || !fits_one_line(item)) return false;
  return true;
}

std::string one_line(const Node& node) {
  std::vector<std::string> words;
  for (const auto& item : node.items()) words.push_back(one_line(item));
  for (const auto& entry : node.entries())
    words.push_back(fmt::format("{}: {}", scalar_text(Node::scalar(entry.key)), one_line(entry.value)));
  if (node.is_list()) return fmt::format("{}[{}]", node.is_alternatives() ? "!choice " : "", join(words));
  return node.is_map() ? fmt::format("{{{}}}", join(words)) : scalar_text(node);
}

void write_block(const Node& node, int indent, bool first_in_line, std::string& out);

void write_value(const Node& value, int indent, std::string& out) {
  if (fits_one_line(value)) {
    out += fmt::format(" {}\n", one_line(value));
  } else {
    out += value.is_alternatives() ? " !choice\n" : "\n";
    write_block(value, indent, false, out);
  }
}

void write_block(const Node& node, int indent, bool first_in_line, std::string& out) {
  for (const auto& entry : node.entries()) {
    if (!first_in_line) out.append(indent, ' ');
    first_in_line = false;
    out += scalar_text(Node::scalar(entry.key)) + ":";
    write_value(entry.value, indent + 2, out);
  }
  for (const auto& item : node.items()) {
    out.append(indent, ' ');
    out += "-";
    if (item.is_map() && item.size() > 0) {
      out += " ";
      write_block(item, indent + 2, true, out);
    } else {
      write_value(item, indent + 2, out);
    }
  }
}

}  // namespace

std::string to_line(const Node& node) { return one_line(node); }

namespace {

/// Invisible characters: non-breaking blanks of web pages, and a tab before a key. Empty if no line has one.
std::string about_tabs(std::string_view text) {
  for (const std::string_view blank : {"\u00a0", "\u200b", "\u2003"})
    if (const auto at = text.find(blank); at != std::string_view::npos)
      return fmt::format("; line {} holds a no-break or other special blank, as web pages have; type a plain one",
                         1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  int line = 1;
  bool indent = true;
  for (const char c : text) {
    if (c == '\t' && indent) return fmt::format("; line {} is indented with a tab, and YAML requires spaces", line);
    if (c == '\n')
      ++line, indent = true;
    else if (c != ' ')
      indent = false;
  }
  return "";
}

/// An unquoted file name that begins with a placeholder: YAML parses it as a map.
std::string about_places(std::string_view text) {
  for (const std::string_view place : {"{run}", "{deck}"})
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string_view::npos; ++at) {
      const auto before = text.find_last_not_of(' ', at == 0 ? 0 : at - 1);
      const bool value = at > 0 && before != std::string_view::npos && before < at &&
                         std::string_view(":[,-").find(text[before]) != std::string_view::npos;
      if (value) return fmt::format("; a name that begins with {} needs quotes: \"{}/...\"", place, place);
    }
  return "";
}

}  // namespace

Node parse(std::string_view text, std::string_view source) {
  try {
    std::istringstream input{std::string(text)};
    YAML::Parser parser(input);
    Builder builder(source), rest(source);
    const bool any = parser.HandleNextDocument(builder);
    const bool more = parser.HandleNextDocument(rest);
    if (any && more && builder.document.is_null())
      throw InputError(fmt::format("{}: not valid YAML: expected a key", builder.start.text()));
    if (more) throw InputError(fmt::format("{}: a second YAML document begins here, expected one", rest.start.text()));
    if (!any || builder.document.is_null()) throw InputError(fmt::format("{}: the deck is empty", source));
    return builder.document.at_path("");
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}: not valid YAML: {}{}", mark_of(e.mark, source).text(), e.msg,
                                 about_tabs(text) + about_places(text)));
  }
}

Node load(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file || !text) throw InputError(fmt::format("cannot read deck '{}': {}", path, std::strerror(errno)));
  return parse(text.str(), path);
}

std::string to_yaml(const Node& node) {
  std::string out;
  if (fits_one_line(node)) return one_line(node) + "\n";
  write_block(node, 0, false, out);
  return out;
}

}  // namespace cambium::deck
