#include "plugins/md/pace/yace_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::md {
namespace {

class YaceTreeBuilder : public YAML::EventHandler {
 public:
  explicit YaceTreeBuilder(std::string path) : path_(std::move(path)) {}
  YaceNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw InputError(fmt::format("{}:{}: aliases of YAML are not supported in a potential", path_, mark.line + 1));
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& value) override {
    scalar(mark, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, YaceNode::Kind::numbers);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, YaceNode::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YaceNode node;
    std::string key;
    bool has_key = false;
  };

  void open(const YAML::Mark& mark, YaceNode::Kind kind) {
    constexpr std::size_t deepest = 32;
    if (stack_.size() == deepest)
      throw InputError(fmt::format("{}:{}: lists and maps are nested too deeply", path_, mark.line + 1));
    Open& one = stack_.emplace_back();
    one.node.kind = kind;
    one.node.line = mark.line + 1;
  }

  void scalar(const YAML::Mark& mark, const std::string& text) {
    if (!stack_.empty() && stack_.back().node.kind == YaceNode::Kind::numbers)
      if (const auto number = io::number_of(text)) {
        stack_.back().node.values.push_back(*number);
        return;
      }
    YaceNode node;
    node.line = mark.line + 1;
    node.text = text;
    put(std::move(node));
  }

  void close() {
    YaceNode done = std::move(stack_.back().node);
    stack_.pop_back();
    put(std::move(done));
  }

  void put(YaceNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.kind == YaceNode::Kind::map) {
      if (!top.has_key) {
        top.key = node.kind == YaceNode::Kind::scalar ? node.text : fmt::format("{}", fmt::join(node.values, ","));
        top.has_key = true;
        return;
      }
      top.node.entries.emplace_back(std::move(top.key), std::move(node));
      top.has_key = false;
      return;
    }
    as_list(top.node);
    top.node.items.push_back(std::move(node));
  }

  /// Converts numbers that precede a text or a list to items like the others.
  static void as_list(YaceNode& node) {
    if (node.kind == YaceNode::Kind::list) return;
    node.kind = YaceNode::Kind::list;
    for (const double value : node.values) {
      YaceNode item;
      item.line = node.line;
      item.text = fmt::format("{}", value);
      node.items.push_back(std::move(item));
    }
    node.values.clear();
  }

  std::string path_;
  YaceNode root_;
  std::vector<Open> stack_;
};

}  // namespace

const YaceNode* YaceNode::find(std::string_view key) const {
  for (const auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

YaceNode read_yace_tree(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot open '{}': {}; check the path", path, std::strerror(errno)));
  YaceTreeBuilder builder(path);
  try {
    YAML::Parser parser(file);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw InputError(
        fmt::format("{}:{}: the file is not YAML, or is truncated: {}", path, error.mark.line + 1, error.msg));
  }
  return builder.take();
}

}  // namespace cambium::md
