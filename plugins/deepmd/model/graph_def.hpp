#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugins/deepmd/model/model_tree.hpp"

namespace cambium::deepmd {

/// An attribute of a node of a TensorFlow graph; what it is depends on the operation.
struct GraphAttribute {
  double number = 0.0;
  std::vector<std::int64_t> integers;  ///< of a list
};

/// A constant of a TensorFlow graph.
struct GraphConstant {
  Array array;       ///< numbers; dtype "float64", "float32", "float16", "bfloat16", "int32", "int64" or "bool"
  std::string text;  ///< of a string
};

/// A node of a TensorFlow graph.
struct GraphNode {
  std::string name, op;
  std::vector<std::string> inputs;  ///< "name", or "name:k" for output k
  std::map<std::string, GraphAttribute> attributes;
  GraphConstant constant;  ///< of an operation Const
};

/// Nodes of a frozen TensorFlow graph: a GraphDef in the binary wire format of protocol buffers
/// (tensorflow/core/framework/graph.proto). Only data are read, nothing is executed. The library of protocol buffers
/// would need TensorFlow's own message files to do the same. InputError for a damaged file.
class GraphDef {
 public:
  /// `file` is the name in messages.
  GraphDef(std::string_view bytes, std::string file);

  const std::string& file() const { return file_; }
  const std::vector<GraphNode>& nodes() const { return nodes_; }
  /// Null if there is none of this name.
  const GraphNode* find(const std::string& name) const;
  /// The numbers of a constant; InputError if it is missing or a text.
  const Array& numbers(const std::string& name) const;
  /// The text of a constant, empty if there is none.
  std::string text(const std::string& name) const;
  /// The first node that takes the output of `name`, outside the gradient; null if none does.
  const GraphNode* consumer(const std::string& name) const;

 private:
  std::string file_;
  std::vector<GraphNode> nodes_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::size_t> consumers_;  ///< first consumer of each name
};

}  // namespace cambium::deepmd
