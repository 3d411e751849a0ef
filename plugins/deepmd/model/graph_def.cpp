#include "plugins/deepmd/model/graph_def.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {

struct Damaged {};

/// Fields of one message in the wire format of protocol buffers: a key (number and kind), then the value.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  /// Advances to the next field; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    number = static_cast<int>(key >> 3);
    integer = 0;
    bytes = {};
    switch (kind_ = static_cast<int>(key & 7)) {
      case 0:
        integer = varint();
        return true;
      case 1:
        bytes = take(8);
        return true;
      case 2:
        bytes = take(varint());
        return true;
      case 5:
        bytes = take(4);
        return true;
      default:
        throw Damaged();
    }
  }
  bool is_bytes() const { return kind_ == 2; }

  int number = 0;
  std::uint64_t integer = 0;  ///< of a varint
  std::string_view bytes;     ///< of all others

  /// A value of this size and type at the begin of `from`, in little-endian order.
  template <class T>
  static T scalar(std::string_view from) {
    static_assert(std::endian::native == std::endian::little, "values in files are little-endian");
    if (from.size() < sizeof(T)) throw Damaged();
    T out;
    std::memcpy(&out, from.data(), sizeof out);
    return out;
  }

  /// Appends a repeated number, alone or packed.
  template <class T>
  void append(std::vector<double>& values) const {
    if (bytes.size() % sizeof(T) != 0) throw Damaged();
    for (std::size_t k = 0; k < bytes.size(); k += sizeof(T)) values.push_back(scalar<T>(bytes.substr(k)));
  }
  void append_integers(std::vector<std::int64_t>& values) const {
    if (!is_bytes()) return values.push_back(static_cast<std::int64_t>(integer));
    for (Message packed(bytes); !packed.rest_.empty();) values.push_back(static_cast<std::int64_t>(packed.varint()));
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw Damaged();
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    throw Damaged();
  }

  std::string_view rest_;
  int kind_ = 0;
};

/// Types of tensorflow/core/framework/types.proto with their size in bytes; absent ones are not read.
struct TensorType {
  std::string name;
  std::size_t size;
};

const std::map<std::uint64_t, TensorType> tensor_types = {
    {1, {"float32", 4}}, {2, {"float64", 8}},  {3, {"int32", 4}},    {9, {"int64", 8}},
    {10, {"bool", 1}},   {19, {"float16", 2}}, {14, {"bfloat16", 2}}};

double half(std::uint16_t bits) {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return exponent ? sign * std::ldexp(1024.0 + fraction, exponent - 25) : sign * std::ldexp(fraction, -24);
}

/// Values of `tensor_content`.
std::vector<double> content(std::string_view bytes, const TensorType& type) {
  if (bytes.size() % type.size != 0) throw Damaged();
  std::vector<double> out;
  for (std::size_t k = 0; k < bytes.size(); k += type.size) {
    const auto from = bytes.substr(k);
    if (type.name == "float64")
      out.push_back(Message::scalar<double>(from));
    else if (type.name == "float32")
      out.push_back(Message::scalar<float>(from));
    else if (type.name == "int32")
      out.push_back(Message::scalar<std::int32_t>(from));
    else if (type.name == "int64")
      out.push_back(static_cast<double>(Message::scalar<std::int64_t>(from)));
    else if (type.name == "bool")
      out.push_back(from.front() != 0);
    else if (type.name == "float16")
      out.push_back(half(Message::scalar<std::uint16_t>(from)));
    else
      out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(Message::scalar<std::uint16_t>(from)) << 16));
  }
  return out;
}

std::vector<std::int64_t> shape_of(std::string_view bytes) {
  std::vector<std::int64_t> out;
  for (Message shape(bytes); shape.next();)
    if (shape.number == 2) {
      std::int64_t size = 0;
      for (Message dim(shape.bytes); dim.next();)
        if (dim.number == 1) size = static_cast<std::int64_t>(dim.integer);
      out.push_back(size);
    }
  return out;
}

/// The last of fewer values than elements stands for the others, zero for all where there is none.
void fill_up(Array& array) {
  constexpr std::int64_t most = std::int64_t{1} << 33;
  std::int64_t elements = 1;
  for (const auto extent : array.shape) {
    if (extent < 0 || (extent > 0 && elements > most / extent)) throw Damaged();
    elements *= extent;
  }
  if (std::ssize(array.values) > elements) throw Damaged();
  constexpr std::int64_t most_repeated = std::int64_t{1} << 26;
  if (std::ssize(array.values) < elements && elements > most_repeated) throw Damaged();
  array.values.resize(static_cast<std::size_t>(elements), array.values.empty() ? 0.0 : array.values.back());
}

GraphConstant tensor_of(std::string_view bytes) {
  GraphConstant out;
  std::uint64_t type = 0;
  std::string_view packed;
  std::vector<std::int64_t> integers;
  for (Message tensor(bytes); tensor.next();) switch (tensor.number) {
      case 1:
        type = tensor.integer;
        break;
      case 2:
        out.array.shape = shape_of(tensor.bytes);
        break;
      case 4:
        packed = tensor.bytes;
        break;
      case 5:
        tensor.append<float>(out.array.values);
        break;
      case 6:
        tensor.append<double>(out.array.values);
        break;
      case 8:
        out.text = std::string(tensor.bytes);
        break;
      case 7:
      case 10:
      case 11:
      case 13:
        tensor.append_integers(integers);
        break;
      default:
        break;
    }
  const auto known = tensor_types.find(type);
  if (known == tensor_types.end()) return out;
  out.array.dtype = known->second.name;
  for (const auto value : integers)  // halves are stored as integers, too
    out.array.values.push_back(out.array.dtype == "float16" ? half(static_cast<std::uint16_t>(value))
                               : out.array.dtype == "bfloat16"
                                   ? std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16)
                                   : static_cast<double>(value));
  if (!packed.empty()) out.array.values = content(packed, known->second);
  fill_up(out.array);
  return out;
}

GraphAttribute attribute_of(std::string_view bytes, GraphConstant& constant) {
  GraphAttribute out;
  for (Message value(bytes); value.next();) {
    if (value.number == 3) out.number = static_cast<double>(static_cast<std::int64_t>(value.integer));
    if (value.number == 4) out.number = Message::scalar<float>(value.bytes);
    if (value.number == 8) constant = tensor_of(value.bytes);
    if (value.number == 1 && value.is_bytes())
      for (Message list(value.bytes); list.next();)
        if (list.number == 3) list.append_integers(out.integers);
  }
  return out;
}

GraphNode node_of(std::string_view bytes) {
  GraphNode out;
  for (Message node(bytes); node.next();) {
    if (node.number == 1) out.name = std::string(node.bytes);
    if (node.number == 2) out.op = std::string(node.bytes);
    if (node.number == 3) out.inputs.emplace_back(node.bytes);
    if (node.number != 5) continue;
    std::string key;
    std::string_view value;
    for (Message entry(node.bytes); entry.next();) {
      if (entry.number == 1) key = std::string(entry.bytes);
      if (entry.number == 2) value = entry.bytes;
    }
    out.attributes[key] = attribute_of(value, out.constant);
  }
  return out;
}

}  // namespace

GraphDef::GraphDef(std::string_view bytes, std::string file) : file_(std::move(file)) {
  try {
    for (Message graph(bytes); graph.next();)
      if (graph.number == 1 && graph.is_bytes()) nodes_.push_back(node_of(graph.bytes));
  } catch (const Damaged&) {
    throw InputError(fmt::format("{}: not a TensorFlow graph, or a damaged one", file_));
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    by_name_.emplace(nodes_[k].name, k);
    if (nodes_[k].name.starts_with("gradients/")) continue;
    for (const auto& input : nodes_[k].inputs) consumers_.emplace(input, k);
  }
}

const GraphNode* GraphDef::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[found->second];
}

const Array& GraphDef::numbers(const std::string& name) const {
  const GraphNode* node = find(name);
  if (!node || node->op != "Const") throw InputError(fmt::format("{}: the graph has no constant '{}'", file_, name));
  if (node->constant.array.values.empty() && node->constant.array.elements() > 0)
    throw InputError(fmt::format("{}: the constant '{}' holds no numbers", file_, name));
  return node->constant.array;
}

std::string GraphDef::text(const std::string& name) const {
  const GraphNode* node = find(name);
  return node ? node->constant.text : std::string();
}

const GraphNode* GraphDef::consumer(const std::string& name) const {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : &nodes_[found->second];
}

}  // namespace cambium::deepmd
