#include "core/train/data/marked_array.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/io/hdf5/h5_chunks.hpp"

namespace cambium::train {

namespace {

/// The corresponding type in a file, if there is one.
std::optional<io::cf::Stored> stored_as(DType type) {
  using io::cf::Stored;
  switch (type) {
    case DType::f64:
      return Stored::f64;
    case DType::f32:
      return Stored::f32;
    case DType::i64:
      return Stored::i64;
    case DType::i32:
      return Stored::i32;
    case DType::u32:
      return Stored::u32;
    case DType::i8:
      return Stored::i8;
    case DType::u8:
      return Stored::u8;
    case DType::bf16:
      break;
  }
  return {};
}

/// Stored values of any type as float64, without decoding.
std::vector<double> plain_numbers(io::cf::Stored type, const std::vector<char>& bytes, std::size_t n) {
  std::vector<double> out(n);
  const auto copy = [&]<class T>(T) {
    const T* const from = reinterpret_cast<const T*>(bytes.data());
    for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<double>(from[k]);
  };
  using io::cf::Stored;
  switch (type) {
    case Stored::i8:
      return copy(std::int8_t{}), out;
    case Stored::u8:
      return copy(std::uint8_t{}), out;
    case Stored::i16:
      return copy(std::int16_t{}), out;
    case Stored::u16:
      return copy(std::uint16_t{}), out;
    case Stored::i32:
      return copy(std::int32_t{}), out;
    case Stored::u32:
      return copy(std::uint32_t{}), out;
    case Stored::i64:
      return copy(std::int64_t{}), out;
    case Stored::u64:
      return copy(std::uint64_t{}), out;
    case Stored::f32:
      return copy(float{}), out;
    case Stored::f64:
      return copy(double{}), out;
  }
  return out;
}

}  // namespace

MarkedArray::MarkedArray(std::unique_ptr<io::cf::Variable> variable, io::cf::Decoding decoding)
    : variable_(std::move(variable)), decoding_(std::move(decoding)) {}

std::optional<MarkedArray> MarkedArray::of(const io::File& file, const io::Dataset& array,
                                           const io::cf::DecodingOptions& options) {
  // The default fill value of netCDF is not named by any attribute
  const bool netcdf = file.has_attribute("_NCProperties");
  if (!netcdf && options.fills.empty() && !io::cf::has_marks(array) && !io::has_own_fill(array)) return {};
  auto variable = io::cf::variable_of(array);
  if (!variable->type()) return {};  // rejected by its type
  io::cf::Decoding decoding(*variable, array.file(), options);
  if (!decoding.unpacks() && !decoding.leaves_out()) return {};
  return MarkedArray(std::move(variable), std::move(decoding));
}

std::map<std::int64_t, double> MarkedArray::read(std::int64_t first, const io::Dataset& array,
                                                 const TensorRef& block) const {
  const auto n = static_cast<std::size_t>(block.elements());
  std::vector<std::int64_t> start(block.rank, 0);
  start[0] = first;
  std::vector<char> stored(n * io::cf::size_of(decoding_.stored()));
  variable_->read(start, {block.shape, static_cast<std::size_t>(block.rank)}, stored.data());
  std::vector<double> numbers(n);
  decoding_.apply(stored.data(), n, numbers.data());
  if (decoding_.unpacks())
    std::copy(numbers.begin(), numbers.end(), static_cast<double*>(block.data));
  else if (stored_as(block.dtype) == decoding_.stored())
    std::copy(stored.begin(), stored.end(), static_cast<char*>(block.data));
  else
    array.read_block(start, block);
  std::map<std::int64_t, double> missing;
  if (std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); })) return missing;
  const auto plain = plain_numbers(decoding_.stored(), stored, n);
  const auto width = n / static_cast<std::size_t>(block.shape[0]);
  for (std::size_t k = 0; k < n; ++k)
    if (std::isnan(numbers[k])) missing.try_emplace(first + static_cast<std::int64_t>(k / width), plain[k]);
  return missing;
}

}  // namespace cambium::train
