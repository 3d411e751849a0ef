#include "core/codec/rows/rows.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/codec/huffman.hpp"
#include "core/codec/quantizer.hpp"

namespace cambium::lowp {
namespace {

constexpr int largest = 32767;  ///< multiple of the step that has a symbol

/// 0 means that the value itself is kept; then 0, -1, 1, -2, 2 times the step, so that few symbols are used.
std::uint16_t symbol_of(int q) { return static_cast<std::uint16_t>(q < 0 ? -2 * q : 2 * q + 1); }
int multiple_of(std::uint16_t symbol) { return symbol % 2 == 0 ? -(symbol / 2) : symbol / 2; }

/// Fields of a message: symbols of the explicit rows, references, and values kept unquantised.
template <class T>
struct Message {
  std::vector<std::uint16_t> symbols, references;
  std::vector<T> kept;
};

/// Symbols of a row; its values become what is decoded. True if all values have one.
template <class T>
bool quantise(const Quantizer<T>& by, std::span<T> row, std::vector<std::uint16_t>& symbols, std::vector<T>& kept) {
  symbols.clear();
  kept.clear();
  for (T& x : row) {
    const T q = std::rint(x * by.inverse);
    const bool small = std::abs(q) < T(largest);
    const int multiple = small ? static_cast<int>(q) : 0;
    const T decoded = static_cast<T>(multiple) * by.step;
    const bool fits = small && std::abs(x - decoded) < by.bound;
    symbols.push_back(fits ? symbol_of(multiple) : std::uint16_t{0});
    if (fits)
      x = decoded;
    else
      kept.push_back(x);
  }
  return kept.empty();
}

template <class T>
void add_group(const RowGroup<T>& group, Message<T>& to) {
  const Quantizer<T> by(group.bound);
  const auto width = static_cast<std::size_t>(group.width);
  std::unordered_map<std::u16string, std::uint16_t> known;
  std::vector<std::uint16_t> symbols;
  std::vector<T> kept;
  for (std::size_t at = 0; at < group.values.size(); at += width) {
    const bool whole = quantise(by, group.values.subspan(at, width), symbols, kept);
    if (group.repeated) {
      // Reference 0: an explicit row; these are numbered from 1.
      std::uint16_t reference = 0;
      if (whole && known.size() < 65535) {
        const auto number = static_cast<std::uint16_t>(known.size() + 1);
        const auto [found, fresh] = known.try_emplace(std::u16string(symbols.begin(), symbols.end()), number);
        if (!fresh) reference = found->second;
      } else if (whole) {
        const auto found = known.find(std::u16string(symbols.begin(), symbols.end()));
        if (found != known.end()) reference = found->second;
      }
      to.references.push_back(reference);
      if (reference != 0) continue;
    }
    to.symbols.insert(to.symbols.end(), symbols.begin(), symbols.end());
    to.kept.insert(to.kept.end(), kept.begin(), kept.end());
  }
}

void put_symbols(const std::vector<std::uint16_t>& symbols, ByteWriter& out) {
  out.put<std::uint64_t>(symbols.size());
  if (!symbols.empty()) huffman_encode(symbols, out);
}

std::vector<std::uint16_t> get_symbols(ByteReader& in, std::size_t most) {
  const auto count = in.get<std::uint64_t>();
  if (count > most) throw DamagedStream{};
  std::vector<std::uint16_t> out(count);
  if (count > 0) huffman_decode(in, out);
  return out;
}

/// Next entry of a list; DamagedStream past its end.
template <class T>
T next(const std::vector<T>& list, std::size_t& at) {
  if (at >= list.size()) throw DamagedStream{};
  return list[at++];
}

/// Goes through a message.
template <class T>
struct RowDecoder {
  Message<T> message;
  std::size_t symbol = 0, reference = 0, kept = 0;

  void group(const RowGroup<T>& group, bool repeated, double bound) {
    const Quantizer<T> by(bound);
    const auto width = static_cast<std::size_t>(group.width);
    std::vector<std::size_t> known;
    for (std::size_t at = 0; at < group.values.size(); at += width) {
      const std::uint16_t earlier = repeated ? next(message.references, reference) : std::uint16_t{0};
      if (earlier > known.size()) throw DamagedStream{};
      if (earlier > 0) {
        std::copy_n(group.values.begin() + static_cast<std::ptrdiff_t>(known[earlier - 1]), width,
                    group.values.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      bool whole = true;
      for (std::size_t k = 0; k < width; ++k) {
        const auto s = next(message.symbols, symbol);
        whole = whole && s != 0;
        group.values[at + k] = s == 0 ? next(message.kept, kept) : static_cast<T>(multiple_of(s)) * by.step;
      }
      if (repeated && whole && known.size() < 65535) known.push_back(at);
    }
  }
};

}  // namespace

template <class T>
void encode_rows(std::span<const RowGroup<T>> groups, ByteWriter& out) {
  Message<T> message;
  for (const auto& group : groups) {
    out.put<double>(group.repeated ? -group.bound : group.bound);
    add_group(group, message);
  }
  put_symbols(message.references, out);
  put_symbols(message.symbols, out);
  out.put_list(message.kept);
}

template <class T>
void decode_rows(ByteReader& in, std::span<const RowGroup<T>> groups) {
  std::vector<double> bounds;
  std::size_t rows = 0, numbers = 0;
  for (const auto& group : groups) {
    bounds.push_back(in.get<double>());
    if (!(std::abs(bounds.back()) > 0.0)) throw DamagedStream{};
    numbers += group.values.size();
    rows += group.values.size() / static_cast<std::size_t>(group.width);
  }
  RowDecoder<T> decoder;
  decoder.message.references = get_symbols(in, rows);
  decoder.message.symbols = get_symbols(in, numbers);
  decoder.message.kept = in.get_list<T>();
  for (std::size_t k = 0; k < groups.size(); ++k) decoder.group(groups[k], bounds[k] < 0.0, std::abs(bounds[k]));
}

template void encode_rows<double>(std::span<const RowGroup<double>>, ByteWriter&);
template void encode_rows<float>(std::span<const RowGroup<float>>, ByteWriter&);
template void decode_rows<double>(ByteReader&, std::span<const RowGroup<double>>);
template void decode_rows<float>(ByteReader&, std::span<const RowGroup<float>>);

}  // namespace cambium::lowp
