#include "core/train/weights/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::train {

using Json = nlohmann::json;

static std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void write_safetensors(const std::string& path, const Safetensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::string data;
  for (const auto& tensor : content.tensors) {
    const std::size_t begin = data.size();
    with_real(content.dtype, [&]<class T>() {
      const std::vector<T> values(tensor.values.begin(), tensor.values.end());
      data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    });
    header[tensor.name] = {{"dtype", content.dtype == DType::f64 ? "F64" : "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  constexpr std::size_t alignment = 8;
  text.append((alignment - text.size() % alignment) % alignment, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  io::write_file_atomically(path, bytes + text + data);
}

static double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction ? std::nan("") : std::numeric_limits<double>::infinity())
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

template <class T, class F>
static std::vector<double> numbers_of(std::string_view bytes, F&& value) {
  std::vector<double> out(bytes.size() / sizeof(T));
  for (std::size_t k = 0; k < out.size(); ++k) {
    T stored;
    std::memcpy(&stored, bytes.data() + k * sizeof(T), sizeof(T));
    out[k] = value(stored);
  }
  return out;
}

static std::vector<double> numbers_of(std::string_view bytes, const std::string& type) {
  const auto same = [](auto x) { return static_cast<double>(x); };
  if (type == "F64") return numbers_of<double>(bytes, same);
  if (type == "F32") return numbers_of<float>(bytes, same);
  if (type == "F16") return numbers_of<std::uint16_t>(bytes, half);
  if (type == "BF16")
    return numbers_of<std::uint16_t>(bytes, [](std::uint16_t x) {
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16));
    });
  if (type == "I64") return numbers_of<std::int64_t>(bytes, same);
  if (type == "I32") return numbers_of<std::int32_t>(bytes, same);
  throw InputError(fmt::format("numbers of type {}; weights are F64, F32, F16, BF16, I64 or I32", type));
}

Safetensors read_safetensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("'{}' cannot be read; check the path", path));
  std::ostringstream all;
  all << in.rdbuf();
  const std::string bytes = all.str();
  std::uint64_t length = 0;
  if (bytes.size() >= sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  if (bytes.size() < sizeof length || length > bytes.size() - sizeof length)
    throw InputError(fmt::format("'{}' is no safetensors file, or is cut short; copy it again", path));
  const auto header = Json::parse(bytes.substr(sizeof length, length), nullptr, false);
  const std::string_view data = std::string_view(bytes).substr(sizeof length + length);
  Safetensors out;
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        entry.get_to(out.metadata);
        continue;
      }
      const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
      const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
      if (begin > end || end > data.size()) throw InputError("the file ends before its numbers do");
      StoredTensor tensor{name, entry.at("shape"), numbers_of(data.substr(begin, end - begin), entry.at("dtype"))};
      if (std::ssize(tensor.values) != count_of(tensor.shape)) throw InputError("shape and number of bytes differ");
      out.tensors.push_back(std::move(tensor));
    }
  } catch (const std::exception& error) {
    throw InputError(fmt::format("'{}' is no sound safetensors file: {}", path, error.what()));
  }
  return out;
}

namespace {

/// The name and the shape that PyTorch gives a parameter, and whether its axes are exchanged.
struct TorchForm {
  std::string name;
  std::vector<std::int64_t> shape;
  bool transposed = false;
};

TorchForm torch_form(const std::string& type, const ParameterInfo& info) {
  constexpr std::string_view layers = "layers.";
  if (type != "mlp" || !info.name.starts_with(layers)) return {info.name, info.shape};
  const auto dot = info.name.rfind('.');
  const int layer = std::stoi(info.name.substr(layers.size(), dot - layers.size()));
  const bool matrix = info.shape.size() == 2;
  TorchForm out{fmt::format("layers.{}.{}", 2 * layer, matrix ? "weight" : "bias"), info.shape, matrix};
  if (matrix) std::swap(out.shape[0], out.shape[1]);
  return out;
}

/// Place in an array of shape (rows, columns) of element k of its transpose.
std::size_t place_in(const TorchForm& form, std::size_t k) {
  if (!form.transposed) return k;
  const auto rows = static_cast<std::size_t>(form.shape[1]), columns = static_cast<std::size_t>(form.shape[0]);
  return k % rows * columns + k / rows;
}

}  // namespace

std::vector<StoredTensor> to_torch(const std::string& type, const FlatBuffer& weights) {
  std::vector<StoredTensor> out;
  const auto& tensors = weights.layout().tensors();
  with_real(weights.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      const auto form = torch_form(type, tensors[k].info);
      const auto values = weights.values<T>(k);
      StoredTensor tensor{form.name, form.shape, std::vector<double>(values.size())};
      for (std::size_t i = 0; i < values.size(); ++i) tensor.values[i] = static_cast<double>(values[place_in(form, i)]);
      out.push_back(std::move(tensor));
    }
  });
  return out;
}

void from_torch(const std::string& type, const Safetensors& content, const std::string& file, FlatBuffer& weights) {
  const auto& tensors = weights.layout().tensors();
  with_real(weights.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      const auto form = torch_form(type, tensors[k].info);
      const auto found = std::find_if(content.tensors.begin(), content.tensors.end(),
                                      [&](const auto& tensor) { return tensor.name == form.name; });
      if (found == content.tensors.end())
        throw InputError(fmt::format("'{}' has no tensor '{}' of shape ({}), which the network needs", file, form.name,
                                     fmt::join(form.shape, ", ")));
      if (found->shape != form.shape)
        throw InputError(fmt::format("'{}' holds '{}' of shape ({}), but the network's has ({}); use the same network",
                                     file, form.name, fmt::join(found->shape, ", "), fmt::join(form.shape, ", ")));
      const auto values = weights.values<T>(k);
      for (std::size_t i = 0; i < values.size(); ++i) values[place_in(form, i)] = static_cast<T>(found->values[i]);
    }
  });
}

}  // namespace cambium::train
