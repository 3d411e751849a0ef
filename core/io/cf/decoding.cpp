#include "core/io/cf/decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/units.hpp"

namespace cambium::io::cf {
namespace {

std::optional<Stored> other_sign(Stored type, bool to_unsigned) {
  const auto number = static_cast<int>(type);
  if (is_real(type) || (number % 2 == 1) == to_unsigned) return std::nullopt;
  return static_cast<Stored>(to_unsigned ? number + 1 : number - 1);
}

bool is_unsigned(Stored type) { return !is_real(type) && static_cast<int>(type) % 2 == 1; }

long double least_of(Stored type) {
  return is_unsigned(type) ? 0.0L : -std::ldexp(1.0L, static_cast<int>(8 * size_of(type)) - 1);
}
long double most_of(Stored type) {
  return std::ldexp(1.0L, static_cast<int>(8 * size_of(type)) - (is_unsigned(type) ? 0 : 1)) - 1.0L;
}
bool holds(Stored type, long double x) {
  return is_real(type) || (x == std::floor(x) && x >= least_of(type) && x <= most_of(type));
}

std::string text_of_number(long double x) {
  return x == std::floor(x) && std::abs(x) < 1e19L ? fmt::format("{:.0f}", static_cast<double>(x))
                                                   : number_text(static_cast<double>(x));
}

/// Original value of a fill that was written as a real number of 32 bits: -99.99 for -99.9899979.
double as_written(long double x) {
  const auto text = fmt::format("{}", static_cast<float>(x));
  return parse_number(text).value_or(static_cast<double>(x));
}

/// Smallest and largest valid value in the stored type; none if no value of it is valid.
template <class T>
std::optional<std::pair<T, T>> bounds(std::optional<long double> low, std::optional<long double> high, Stored type) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return std::pair{low ? static_cast<T>(*low) : -Limits::infinity(),
                     high ? static_cast<T>(*high) : Limits::infinity()};
  const long double least = least_of(type), most = most_of(type);
  if ((low && *low > most) || (high && *high < least)) return std::nullopt;
  return std::pair{low && *low > least ? static_cast<T>(std::ceil(*low)) : Limits::lowest(),
                   high && *high < most ? static_cast<T>(std::floor(*high)) : Limits::max()};
}

}  // namespace

Decoding::Decoding(const Variable& variable, const std::string& file, const DecodingOptions& options)
    : variable_(&variable), where_(fmt::format("'{}' of '{}'", variable.path(), file)) {
  if (!variable.type()) throw InputError(fmt::format("{} is not numeric: text, or a compound type", where_));
  file_type_ = type_ = *variable.type();
  const std::string sign = in_small_letters(variable.text("_Unsigned"));
  if (sign == "true" || sign == "false")
    if (const auto other = other_sign(type_, sign == "true")) type_ = *other;
  scale_ = number_of("scale_factor", 1.0);
  if (scale_ == 0.0)
    throw InputError(fmt::format(
        "the attribute scale_factor of {} is 0, which makes all of its values equal; correct it (ncatted)", where_));
  offset_ = number_of("add_offset", 0.0);
  read_fills(options);
  read_range(options);
  variable_ = nullptr;
}

std::vector<long double> Decoding::numbers_of(const char* name, std::optional<Stored>& type) const {
  const auto found = variable_->attribute(name);
  if (!found) return {};
  type = found->type;
  if (found->type) return found->numbers;
  std::vector<long double> out;
  std::string words = found->text;
  std::replace(words.begin(), words.end(), ',', ' ');
  for (std::size_t at = 0; at < words.size();) {
    const auto begin = words.find_first_not_of(" \t\r\n", at);
    if (begin == std::string::npos) break;
    at = std::min(words.find_first_of(" \t\r\n", begin), words.size());
    std::string word = words.substr(begin, at - begin);
    if (word.size() > 1 && std::string_view("fFsSbBdDL").find(word.back()) != std::string_view::npos) word.pop_back();
    if (word == "NaN" || word == "nan" || word == "Na") continue;
    const auto number = parse_number(word);
    if (!number)
      throw InputError(fmt::format("the attribute {} of {} is '{}', expected numbers; correct it (ncatted)", name,
                                   where_, found->text));
    out.push_back(*number);
  }
  return out;
}

double Decoding::number_of(const char* name, double otherwise) const {
  std::optional<Stored> type;
  const auto numbers = numbers_of(name, type);
  if (numbers.empty()) return otherwise;
  if (numbers.size() > 1 || !std::isfinite(static_cast<double>(numbers[0])))
    throw InputError(fmt::format("the attribute {} of {} has {}, expected one number", name, where_,
                                 numbers.size() > 1 ? fmt::format("{} values", numbers.size())
                                                    : fmt::format("{}", static_cast<double>(numbers[0]))));
  return static_cast<double>(numbers[0]);
}

void Decoding::add_fill(long double x, std::optional<Stored> as, const char* attribute) {
  if (std::isnan(x)) return;  // NaN is missing in any case
  if (is_real(type_)) {
    fills_.push_back(x);
    if (type_ == Stored::f64 && as == Stored::f32) fills_.push_back(as_written(x));
    return;
  }
  // a byte of -1 is 255 if the values are unsigned, and vice versa
  if (type_ != file_type_ && !holds(type_, x) && holds(file_type_, x))
    x += (is_unsigned(type_) ? 1.0L : -1.0L) * std::ldexp(1.0L, static_cast<int>(8 * size_of(type_)));
  if (holds(type_, x)) {
    fills_.push_back(x);
    return;
  }
  // a fill in physical units that packs to an integer
  const long double packed = (x - offset_) / scale_;
  if (std::abs(packed - std::round(packed)) < 1e-3L && holds(type_, std::round(packed)))
    fills_.push_back(std::round(packed));
  else if (lost_.empty())
    lost_ = fmt::format("{} {}", attribute, as == Stored::f32 ? number_text(as_written(x)) : text_of_number(x));
}

void Decoding::read_fills(const DecodingOptions& options) {
  bool named = false;
  for (const char* name : {"_FillValue", "missing_value"}) {
    std::optional<Stored> type;
    for (const auto x : numbers_of(name, type)) add_fill(x, type, name);
    named |= std::string_view(name) == "_FillValue" && type.has_value();
  }
  for (const double x : options.fills) add_fill(x, std::nullopt, "fill");
  if (fills_.empty() && !lost_.empty())
    throw InputError(fmt::format(
        "the {} of {} is outside the range of the {} that the array is stored in, as ncpdq writes it: which values are "
        "missing is unknown; give them (fill: [0]), or set _FillValue (ncatted) before packing",
        lost_, where_, words_for(type_)));
  if (const auto fill = variable_->default_fill(); fill && !named) add_fill(*fill, type_, "_FillValue");
  std::sort(fills_.begin(), fills_.end());
  fills_.erase(std::unique(fills_.begin(), fills_.end()), fills_.end());
}

void Decoding::read_range(const DecodingOptions& options) {
  if (options.valid_range == ValidRange::ignored) return;
  std::optional<Stored> type;
  auto range = numbers_of("valid_range", type);
  if (!range.empty() && range.size() != 2)
    throw InputError(
        fmt::format("the attribute valid_range of {} has {} value(s), expected two", where_, range.size()));
  if (range.size() == 2) {
    low_ = range[0];
    high_ = range[1];
  } else {
    std::optional<Stored> of_high;
    const auto low = numbers_of("valid_min", type), high = numbers_of("valid_max", of_high);
    if (!low.empty()) low_ = low[0];
    if (!high.empty()) {
      high_ = high[0];
      type = type ? type : of_high;
    }
  }
  for (auto* bound : {&low_, &high_})
    if (*bound && std::isnan(**bound)) bound->reset();
  if (!low_ && !high_) return;
  if (type_ != file_type_)  // as fills: the bits of the bound
    for (auto* bound : {&low_, &high_})
      if (*bound && !holds(type_, **bound) && holds(file_type_, **bound))
        **bound += (is_unsigned(type_) ? 1.0L : -1.0L) * std::ldexp(1.0L, static_cast<int>(8 * size_of(type_)));
  const bool packed = scale_ != 1.0 || offset_ != 0.0;
  const bool physical = packed && type && is_real(*type) && !is_real(type_);
  if (physical && options.valid_range == ValidRange::as_file)
    throw InputError(fmt::format(
        "the valid range of {} is in real numbers but its values are packed in {}: programs differ in whether it holds "
        "for stored or for unpacked values; specify which (valid_range: stored, unpacked or ignored)",
        where_, words_for(type_)));
  if (file_type_ == Stored::i8 && type_ == Stored::i8 && high_ && *high_ > 127.0L && *high_ <= 255.0L)
    throw InputError(
        fmt::format("the valid range of {} reaches to {}, which signed bytes do not: set _Unsigned = \"true\" where "
                    "its bytes are unsigned (ncatted), or set valid_range: ignored",
                    where_, text_of_number(*high_)));
  if (options.valid_range == ValidRange::unpacked && packed) {
    for (auto* bound : {&low_, &high_})
      if (*bound) **bound = (**bound - offset_) / scale_;
    if (scale_ < 0.0) std::swap(low_, high_);
    // tolerance for the rounding of the packing
    if (low_) *low_ -= 1e-6L;
    if (high_) *high_ += 1e-6L;
  }
}

template <class T>
void Decoding::decode(const T* stored, std::size_t n, double* out) const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double scale = scale_, offset = offset_;
  const auto range = bounds<T>(low_, high_, type_);
  if (!range) {
    std::fill_n(out, n, nan);
    return;
  }
  const auto [low, high] = *range;
  if (fills_.empty()) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = (stored[i] >= low) & (stored[i] <= high) ? static_cast<double>(stored[i]) * scale + offset : nan;
    return;
  }
  // each input is read before its output is written: decoding may be in place
  if (fills_.size() > 2) {
    std::vector<T> fills;
    for (const auto fill : fills_) fills.push_back(static_cast<T>(fill));
    for (std::size_t i = 0; i < n; ++i) {
      const T x = stored[i];
      const bool there = x >= low && x <= high && std::find(fills.begin(), fills.end(), x) == fills.end();
      out[i] = there ? static_cast<double>(x) * scale + offset : nan;
    }
    return;
  }
  const T first = static_cast<T>(fills_.front()), last = static_cast<T>(fills_.back());
  for (std::size_t i = 0; i < n; ++i) {  // vectorised by the compiler
    const T x = stored[i];
    const bool there = (x >= low) & (x <= high) & (x != first) & (x != last);
    out[i] = there ? static_cast<double>(x) * scale + offset : nan;
  }
}

void Decoding::apply(const void* stored, std::size_t n, double* out) const {
  switch (type_) {
    case Stored::i8:
      return decode(static_cast<const std::int8_t*>(stored), n, out);
    case Stored::u8:
      return decode(static_cast<const std::uint8_t*>(stored), n, out);
    case Stored::i16:
      return decode(static_cast<const std::int16_t*>(stored), n, out);
    case Stored::u16:
      return decode(static_cast<const std::uint16_t*>(stored), n, out);
    case Stored::i32:
      return decode(static_cast<const std::int32_t*>(stored), n, out);
    case Stored::u32:
      return decode(static_cast<const std::uint32_t*>(stored), n, out);
    case Stored::i64:
      return decode(static_cast<const std::int64_t*>(stored), n, out);
    case Stored::u64:
      return decode(static_cast<const std::uint64_t*>(stored), n, out);
    case Stored::f32:
      return decode(static_cast<const float*>(stored), n, out);
    case Stored::f64:
      return decode(static_cast<const double*>(stored), n, out);
  }
}

std::vector<double> decoded(const Variable& variable, const std::string& file, const DecodingOptions& options) {
  const Decoding decoding(variable, file, options);
  const auto shape = variable.shape();
  std::size_t n = 1;
  for (const auto extent : shape) n *= static_cast<std::size_t>(extent);
  std::vector<char> stored(n * size_of(decoding.stored()));
  std::vector<double> out(n);
  variable.read(std::vector<std::int64_t>(shape.size(), 0), shape, stored.data());
  decoding.apply(stored.data(), n, out.data());
  return out;
}

std::unique_ptr<Variable> variable_of(const Dataset& array) {
  const std::string name = array.path().substr(1);
  auto out = open_hdf5_container(array.file())->variable(name);
  if (out && out->shape() == array.shape()) return out;
  throw InputError(fmt::format(
      "'{}' in '{}' gives a dimension of netCDF its length and holds no values; {}", array.path(), array.file(),
      out ? fmt::format("the variable of this name is the array '_nc4_non_coord_{}'", name) : "name a variable"));
}

std::vector<double> decoded(const Dataset& array) { return decoded(*variable_of(array), array.file()); }

bool has_marks(const Dataset& array) {
  constexpr const char* names[] = {"_FillValue", "missing_value", "scale_factor", "add_offset",
                                   "_Unsigned",  "valid_range",   "valid_min",    "valid_max"};
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return array.has_attribute(name); });
}

}  // namespace cambium::io::cf
