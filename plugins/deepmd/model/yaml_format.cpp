// The `.yaml` format: plain YAML in which an array is a map {"@class": np.ndarray, dtype, value: nested lists}. Models
// have up to millions of values, so the file is parsed as a stream of events; a tree of YAML nodes would take a hundred
// times the memory of the values.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/model_tree.hpp"

namespace cambium::deepmd::detail {

using Json = nlohmann::ordered_json;

namespace {

/// A plain (unquoted) scalar as YAML's core schema and PyYAML's number formats read it.
Json plain_scalar(const std::string& text) {
  if (text.empty() || text == "null" || text == "~" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (text == ".nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == ".inf") return std::numeric_limits<double>::infinity();
  if (text == "-.inf") return -std::numeric_limits<double>::infinity();
  const char *begin = text.data() + (text[0] == '+'), *end = text.data() + text.size();
  std::int64_t integer;
  if (auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end) return integer;
  double real;
  const bool numeric = (*begin >= '0' && *begin <= '9') || *begin == '-' || *begin == '.';
  if (auto [stop, error] = std::from_chars(begin, end, real); numeric && error == std::errc() && stop == end)
    return real;
  return text;
}

/// Appends the values of nested lists and records their shape; false for ragged or non-numeric lists.
bool flatten(const Json& value, std::size_t depth, Array& out) {
  if (value.is_number()) {
    out.values.push_back(value.get<double>());
    return depth == out.shape.size();
  }
  if (!value.is_array()) return false;
  if (out.shape.size() == depth) {
    if (!out.values.empty()) return false;
    out.shape.push_back(static_cast<std::int64_t>(value.size()));
  }
  if (out.shape[depth] != static_cast<std::int64_t>(value.size())) return false;
  for (const Json& item : value)
    if (!flatten(item, depth + 1, out)) return false;
  return true;
}

/// Builds the tree from the parser's events; arrays are extracted as soon as their map is complete.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {}
  ModelTree take() { return std::move(tree_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(nullptr, anchor, mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(anchored_[anchor], 0, mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_key = !stack_.empty() && stack_.back().value.is_object() && !stack_.back().has_key;
    put(tag == "?" && !is_key ? plain_scalar(value) : Json(value), anchor, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    stack_.push_back({Json::array(), {}, false, anchor, mark});
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    stack_.push_back({Json::object(), {}, false, anchor, mark});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Json value;
    std::string key;
    bool has_key;
    YAML::anchor_t anchor;
    YAML::Mark mark;
  };

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    if (done.value.is_object() && done.value.value("@class", Json()) == "np.ndarray") done.value = extract(done);
    put(std::move(done.value), done.anchor, done.mark);
  }

  Json extract(const Open& node) {
    Array array;
    if (const Json type = node.value.value("dtype", Json("float64")); type.is_string())
      array.dtype = type.get<std::string>();
    else
      throw InputError(fmt::format("{}:{}: the dtype of this np.ndarray is {}, expected a text such as float64", file_,
                                   node.mark.line + 1, type.dump().substr(0, 60)));
    if (!node.value.contains("value") || !flatten(node.value.at("value"), 0, array) ||
        array.elements() != static_cast<std::int64_t>(array.values.size()))
      throw InputError(fmt::format("{}:{}: the value of this np.ndarray is not a rectangular list of numbers", file_,
                                   node.mark.line + 1));
    return tree_.add(std::move(array));
  }

  void put(Json value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor) anchored_[anchor] = value;
    if (stack_.empty()) {
      tree_.root = std::move(value);
      return;
    }
    Open& top = stack_.back();
    if (top.value.is_array()) {
      top.value.push_back(std::move(value));
    } else if (!top.has_key) {
      if (!value.is_string())
        throw InputError(fmt::format("{}:{}: a key of a map must be a text", file_, mark.line + 1));
      top.key = value.get<std::string>();
      top.has_key = true;
    } else {
      top.value[top.key] = std::move(value);
      top.has_key = false;
    }
  }

  std::string file_;
  ModelTree tree_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, Json> anchored_;
};

/// Shortest text that reads back as the same double, in a form that YAML 1.1 readers (PyYAML) also parse as a number.
std::string yaml_number(double value) {
  if (value != value) return ".nan";
  if (value - value != 0.0) return value > 0 ? ".inf" : "-.inf";
  std::string text = fmt::format("{}", value);
  const std::size_t e = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(e == std::string::npos ? text.size() : e, ".0");
  return text;
}

class YamlWriter {
 public:
  YamlWriter(const ModelTree& tree, std::ostream& out) : tree_(tree), out_(out) {}

  void value(const Json& node, int depth) {
    if (node.is_object() && node.contains("@array")) {
      array(tree_.arrays[node.at("@array").get<std::size_t>()], depth);
    } else if (node.is_object() && !node.empty()) {
      out_ << '\n';
      for (const auto& [key, item] : node.items()) {
        indent(depth);
        out_ << Json(key).dump() << ":";
        value(item, depth + 1);
      }
    } else if (node.is_array() && !node.empty()) {
      out_ << '\n';
      for (const Json& item : node) {
        indent(depth);
        out_ << "-";
        value(item, depth + 1);
      }
    } else {
      out_ << ' ' << (node.is_number_float() ? yaml_number(node.get<double>()) : node.dump()) << '\n';
    }
  }

 private:
  void indent(int depth) { out_ << std::string(2 * static_cast<std::size_t>(depth), ' '); }

  void array(const Array& a, int depth) {
    out_ << '\n';
    for (const char* line : {"\"@class\": np.ndarray", "\"@is_variable\": true", "\"@version\": 1"}) {
      indent(depth);
      out_ << line << '\n';
    }
    indent(depth);
    out_ << "dtype: " << a.dtype << '\n';
    indent(depth);
    out_ << "value: ";
    std::size_t next = 0;
    nested(a, 0, next, "\n" + std::string(2 * static_cast<std::size_t>(depth) + 2, ' '));
    out_ << '\n';
  }

  void nested(const Array& a, std::size_t level, std::size_t& next, const std::string& line_break) {
    if (level == a.shape.size()) {
      out_ << yaml_number(a.values[next++]);
      return;
    }
    out_ << '[';
    for (std::int64_t k = 0; k < a.shape[level]; ++k) {
      if (k) out_ << ',' << (level + 1 == a.shape.size() ? " " : line_break);
      nested(a, level + 1, next, line_break);
    }
    out_ << ']';
  }

  const ModelTree& tree_;
  std::ostream& out_;
};

}  // namespace

ModelTree read_yaml(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError(fmt::format("{}: cannot be opened for reading", path));
  TreeBuilder builder(path);
  try {
    YAML::Parser(in).HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw InputError(
        fmt::format("{}:{}: not readable as YAML: {}; is the file complete?", path, error.mark.line + 1, error.msg));
  }
  return builder.take();
}

std::string yaml_text(const ModelTree& tree) {
  std::ostringstream out;
  YamlWriter(tree, out).value(tree.root, 0);
  return std::move(out).str();
}

}  // namespace cambium::deepmd::detail
