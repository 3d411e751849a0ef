#include "core/codec/huffman.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace cambium::lowp {
namespace {

constexpr int symbol_count = 65536, longest = 24, table_bits = 12, streams = 4;

std::vector<std::uint32_t> frequencies(std::span<const std::uint16_t> symbols) {
  // Two histograms: equal symbols in a row would otherwise wait for each other's store.
  std::vector<std::uint32_t> even(symbol_count), odd(symbol_count);
  std::size_t k = 0;
  for (; k + 1 < symbols.size(); k += 2) ++even[symbols[k]], ++odd[symbols[k + 1]];
  if (k < symbols.size()) ++even[symbols[k]];
  for (int s = 0; s < symbol_count; ++s) even[s] += odd[s];
  return even;
}

/// Depth of every used symbol in Huffman's tree.
void tree_depths(const std::vector<std::uint32_t>& weight, const std::vector<int>& used,
                 std::vector<std::uint8_t>& length) {
  using Node = std::pair<std::uint64_t, int>;
  std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
  const int n = static_cast<int>(used.size());
  std::vector<int> parent(2 * n - 1, -1);
  for (int k = 0; k < n; ++k) open.push({weight[used[k]], k});
  for (int made = n; made < 2 * n - 1; ++made) {
    const Node a = open.top();
    open.pop();
    const Node b = open.top();
    open.pop();
    parent[a.second] = parent[b.second] = made;
    open.push({a.first + b.first, made});
  }
  std::vector<int> depth(2 * n - 1, 0);
  for (int k = 2 * n - 3; k >= 0; --k) depth[k] = depth[parent[k]] + 1;
  for (int k = 0; k < n; ++k) length[used[k]] = static_cast<std::uint8_t>(std::min(depth[k], longest));
}

/// Lengthens short codes until Kraft's sum, in units of 2^-longest, is at most one again.
void repair(const std::vector<int>& used, const std::vector<std::uint32_t>& weight, std::vector<std::uint8_t>& length) {
  std::int64_t sum = 0;
  for (int s : used) sum += std::int64_t{1} << (longest - length[s]);
  auto rare_first = used;
  std::stable_sort(rare_first.begin(), rare_first.end(), [&](int a, int b) { return weight[a] < weight[b]; });
  while (sum > (std::int64_t{1} << longest))
    for (int s : rare_first) {
      if (length[s] == longest) continue;
      sum -= std::int64_t{1} << (longest - length[s] - 1);
      ++length[s];
      if (sum <= (std::int64_t{1} << longest)) break;
    }
}

std::vector<std::uint8_t> code_lengths(std::span<const std::uint16_t> symbols) {
  const auto weight = frequencies(symbols);
  std::vector<int> used;
  for (int s = 0; s < symbol_count; ++s)
    if (weight[s] > 0) used.push_back(s);
  std::vector<std::uint8_t> length(symbol_count, 0);
  if (used.size() == 1) length[used[0]] = 1;
  if (used.size() < 2) return length;
  tree_depths(weight, used, length);
  repair(used, weight, length);
  return length;
}

/// Symbols by length, then by value, and the first code of each length.
struct Canonical {
  std::vector<std::uint16_t> order;
  std::array<std::uint32_t, longest + 2> first_code{}, first_index{};

  explicit Canonical(const std::vector<std::uint8_t>& length) {
    std::array<std::uint32_t, longest + 2> count{};
    for (auto n : length) {
      if (n > longest) throw DamagedStream{};
      if (n > 0) ++count[n];
    }
    std::uint64_t code = 0;
    std::uint32_t index = 0;
    for (int n = 1; n <= longest; ++n) {
      code = (code + count[n - 1]) << 1;
      first_code[n] = static_cast<std::uint32_t>(code);
      first_index[n] = index;
      index += count[n];
      if (code + count[n] > (std::uint64_t{1} << n)) throw DamagedStream{};
    }
    first_index[longest + 1] = index;
    order.resize(index);
    auto next = first_index;
    for (int s = 0; s < symbol_count; ++s)
      if (length[s] > 0) order[next[length[s]]++] = static_cast<std::uint16_t>(s);
  }
};

/// Lengths of the symbols between the first and the last used one.
void put_lengths(const std::vector<std::uint8_t>& length, ByteWriter& out) {
  int first = 0, last = symbol_count;
  while (last > 0 && length[last - 1] == 0) --last;
  while (first < last && length[first] == 0) ++first;
  out.put<std::uint32_t>(first);
  out.put_list(std::vector<std::uint8_t>(length.begin() + first, length.begin() + last));
}

std::vector<std::uint8_t> get_lengths(ByteReader& in) {
  const auto first = in.get<std::uint32_t>();
  const auto part = in.get_list<std::uint8_t>();
  if (first > symbol_count || part.size() > symbol_count - first) throw DamagedStream{};
  std::vector<std::uint8_t> length(symbol_count, 0);
  std::copy(part.begin(), part.end(), length.begin() + first);
  return length;
}

/// Concatenates codes, most significant bit first.
std::vector<std::uint8_t> write_bits(std::span<const std::uint16_t> symbols, const std::vector<std::uint32_t>& code,
                                     const std::vector<std::uint8_t>& length, std::uint64_t bits) {
  std::vector<std::uint8_t> out((bits + 7) / 8 + 8);
  std::uint8_t* at = out.data();
  std::uint64_t held = 0;
  int free = 64;
  for (auto s : symbols) {
    const int n = length[s];
    free -= n;
    held |= static_cast<std::uint64_t>(code[s]) << free;
    if (free > 32) continue;
    const auto word = static_cast<std::uint32_t>(held >> 32);
    for (int k = 0; k < 4; ++k) at[k] = static_cast<std::uint8_t>(word >> (24 - 8 * k));
    at += 4;
    held <<= 32;
    free += 32;
  }
  for (int k = 0; k < 8; ++k) at[k] = static_cast<std::uint8_t>(held >> (56 - 8 * k));
  out.resize((bits + 7) / 8);
  return out;
}

/// The bits of one stream; beyond its end there are zeros.
struct BitReader {
  const std::uint8_t *at, *end;
  std::uint64_t held = 0;
  int count = 0;

  void fill() {
    if (end - at >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
      held |= word >> count;
      const int taken = (63 - count) >> 3;
      at += taken;
      count += 8 * taken;
      return;
    }
    while (count <= 56) {
      held |= static_cast<std::uint64_t>(at < end ? *at : 0) << (56 - count);
      at += at < end;
      count += 8;
    }
  }
  void drop(int n) { held <<= n, count -= n; }
};

struct Decoder {
  Canonical canonical;
  struct Entry {
    std::uint16_t symbol;
    std::uint8_t length;  ///< 0: longer than the table's index
  };
  std::vector<Entry> table;

  explicit Decoder(const std::vector<std::uint8_t>& length) : canonical(length), table(1 << table_bits, Entry{0, 0}) {
    for (int n = 1; n <= table_bits; ++n)
      for (auto k = canonical.first_index[n]; k < canonical.first_index[n + 1]; ++k) {
        const auto code = canonical.first_code[n] + (k - canonical.first_index[n]);
        std::fill_n(table.begin() + (static_cast<std::size_t>(code) << (table_bits - n)), 1 << (table_bits - n),
                    Entry{canonical.order[k], static_cast<std::uint8_t>(n)});
      }
  }

  std::uint16_t next(BitReader& in) const {
    const Entry e = table[in.held >> (64 - table_bits)];
    if (e.length > 0) {
      in.drop(e.length);
      return e.symbol;
    }
    for (int n = table_bits + 1; n <= longest; ++n) {
      const auto code = static_cast<std::uint32_t>(in.held >> (64 - n));
      const auto count = canonical.first_index[n + 1] - canonical.first_index[n];
      if (code - canonical.first_code[n] >= count) continue;
      in.drop(n);
      return canonical.order[canonical.first_index[n] + (code - canonical.first_code[n])];
    }
    throw DamagedStream{};
  }
};

std::span<const std::uint16_t> part(std::span<const std::uint16_t> all, int k) {
  const auto quarter = (all.size() + streams - 1) / streams;
  const auto begin = std::min(all.size(), k * quarter);
  return all.subspan(begin, std::min(quarter, all.size() - begin));
}

}  // namespace

void huffman_encode(std::span<const std::uint16_t> symbols, ByteWriter& out) {
  const auto length = code_lengths(symbols);
  put_lengths(length, out);
  const Canonical canonical(length);
  std::vector<std::uint32_t> code(symbol_count, 0);
  for (int n = 1; n <= longest; ++n)
    for (auto k = canonical.first_index[n]; k < canonical.first_index[n + 1]; ++k)
      code[canonical.order[k]] = canonical.first_code[n] + (k - canonical.first_index[n]);
  for (int k = 0; k < streams; ++k) {
    std::uint64_t bits = 0;
    for (auto s : part(symbols, k)) bits += length[s];
    out.put_list(write_bits(part(symbols, k), code, length, bits));
  }
}

void huffman_decode(ByteReader& in, std::span<std::uint16_t> symbols) {
  const Decoder decoder(get_lengths(in));
  std::array<std::vector<std::uint8_t>, streams> bytes;
  std::array<BitReader, streams> reader;
  std::array<std::uint16_t*, streams> to;
  std::array<std::size_t, streams> left;
  for (int k = 0; k < streams; ++k) {
    bytes[k] = in.get_list<std::uint8_t>();
    reader[k] = {bytes[k].data(), bytes[k].data() + bytes[k].size()};
    const auto p = part(symbols, k);
    to[k] = symbols.data() + (p.data() - symbols.data());
    left[k] = p.size();
  }
  if (!symbols.empty() && decoder.canonical.order.empty()) throw DamagedStream{};
  // Two symbols of up to 24 bits fit the content of a reader after fill(): at least 56 bits.
  const auto together = left[streams - 1] / 2;
  for (std::size_t i = 0; i < together; ++i)
    for (int k = 0; k < streams; ++k) {
      reader[k].fill();
      *to[k]++ = decoder.next(reader[k]);
      *to[k]++ = decoder.next(reader[k]);
    }
  for (int k = 0; k < streams; ++k)
    for (auto i = 2 * together; i < left[k]; ++i) {
      reader[k].fill();
      *to[k]++ = decoder.next(reader[k]);
    }
}

}  // namespace cambium::lowp
