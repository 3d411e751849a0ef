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
#include <set>

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

/// Bytes per value.
static std::uint64_t width_of(const std::string& type) {
  if (type == "F64" || type == "I64") return 8;
  if (type == "F32" || type == "I32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  throw InputError(fmt::format("values of type {}; weights are F64, F32, F16, BF16, I64 or I32", type));
}

static std::vector<double> numbers_of(std::string_view bytes, const std::string& type) {
  const auto same = [](auto x) { return static_cast<double>(x); };
  if (type == "F64") return numbers_of<double>(bytes, same);
  if (type == "F32") return numbers_of<float>(bytes, same);
  if (type == "F16") return numbers_of<std::uint16_t>(bytes, half);
  if (type == "I64") return numbers_of<std::int64_t>(bytes, same);
  if (type == "I32") return numbers_of<std::int32_t>(bytes, same);
  return numbers_of<std::uint16_t>(bytes, [](std::uint16_t x) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16));
  });
}

SafetensorsFile::SafetensorsFile(std::string path) : path_(std::move(path)) {
  std::ifstream in(path_, std::ios::binary | std::ios::ate);
  if (!in) throw InputError(fmt::format("'{}' cannot be read; check the path", path_));
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  std::uint64_t length = 0;
  in.seekg(0);
  if (size >= sizeof length) in.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!in || size < sizeof length || length > size - sizeof length)
    throw InputError(fmt::format("'{}' is no safetensors file, or is cut short; copy it again", path_));
  std::string text(length, ' ');
  in.read(text.data(), static_cast<std::streamsize>(length));
  data_ = sizeof length + length;
  const auto header = Json::parse(text, nullptr, false);
  try {
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        value.get_to(metadata_);
        continue;
      }
      Entry entry{name, value.at("dtype"), value.at("shape"), value.at("data_offsets").at(0),
                  value.at("data_offsets").at(1)};
      if (entry.begin > entry.end || entry.end > size - data_) throw InputError("the file ends before its values do");
      const auto numbers = static_cast<std::int64_t>((entry.end - entry.begin) / width_of(entry.type));
      if (numbers != count_of(entry.shape)) throw InputError("shape and number of bytes differ");
      entries_.push_back(std::move(entry));
    }
  } catch (const std::exception& error) {
    throw InputError(fmt::format("'{}' is no sound safetensors file: {}", path_, error.what()));
  }
}

std::vector<double> SafetensorsFile::numbers(const Entry& entry) const {
  std::ifstream in(path_, std::ios::binary);
  std::string bytes(entry.end - entry.begin, ' ');
  in.seekg(static_cast<std::streamoff>(data_ + entry.begin));
  in.read(bytes.data(), std::ssize(bytes));
  if (!in) throw InputError(fmt::format("'{}' cannot be read; check the path", path_));
  return numbers_of(bytes, entry.type);
}

Safetensors read_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  Safetensors out;
  out.metadata = file.metadata();
  for (const auto& entry : file.entries()) out.tensors.push_back({entry.name, entry.shape, file.numbers(entry)});
  return out;
}

namespace {

/// PyTorch's name and shape of a parameter; true if its axes are exchanged.
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

/// Position in an array of shape (rows, columns) of element k of its transpose.
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

void from_torch(const std::string& type, const SafetensorsFile& file, const FlatLayout& layout,
                std::span<const TensorRef> views) {
  for (std::size_t k = 0; k < views.size(); ++k) {
    if (!views[k].data) continue;
    const auto form = torch_form(type, layout.tensors()[k].info);
    const auto found = std::find_if(file.entries().begin(), file.entries().end(),
                                    [&](const auto& entry) { return entry.name == form.name; });
    if (found == file.entries().end())
      throw InputError(fmt::format("'{}' has no tensor '{}' of shape ({}), which the network needs", file.path(),
                                   form.name, fmt::join(form.shape, ", ")));
    if (found->shape != form.shape)
      throw InputError(fmt::format("'{}' holds '{}' of shape ({}), but the network's has ({}); use the same network",
                                   file.path(), form.name, fmt::join(found->shape, ", "), fmt::join(form.shape, ", ")));
    const auto numbers = file.numbers(*found);
    with_real(views[k].dtype, [&]<class T>() {
      auto* to = static_cast<T*>(views[k].data);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const T value = static_cast<T>(numbers[i]);
        if (!std::isfinite(value))
          throw InputError(
              fmt::format("'{}' holds values in tensor '{}' that are not finite; take weights of a training "
                          "that did not diverge",
                          file.path(), form.name));
        to[place_in(form, i)] = value;
      }
    });
  }
}

std::vector<std::string> unused_tensors(const std::string& type, const SafetensorsFile& file,
                                        const FlatLayout& layout) {
  std::set<std::string> used;
  for (const auto& tensor : layout.tensors()) used.insert(torch_form(type, tensor.info).name);
  std::vector<std::string> out;
  for (const auto& entry : file.entries())
    if (!used.contains(entry.name)) out.push_back(entry.name);
  return out;
}

}  // namespace cambium::train
