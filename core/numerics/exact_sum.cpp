#include "core/numerics/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace cambium {
namespace {

constexpr int bits = 32;
constexpr std::int64_t low_bits = (std::int64_t{1} << bits) - 1;

}  // namespace

void ExactSum::add(double x) {
  const auto word = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(word >> 52 & 0x7ff);
  std::uint64_t mantissa = word & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    ++broken_;
    return;
  }
  if (exponent == 0)
    exponent = 1;  // denormal: the same unit, no hidden bit
  else
    mantissa |= std::uint64_t{1} << 52;
  const int shift = exponent % bits, first = exponent / bits;
  const auto wide = static_cast<unsigned __int128>(mantissa) << shift;  // at most 84 bits: three pieces
  const auto low = static_cast<std::int64_t>(wide) & low_bits,
             middle = static_cast<std::int64_t>(wide >> bits) & low_bits,
             high = static_cast<std::int64_t>(wide >> 2 * bits);
  const std::int64_t sign = -static_cast<std::int64_t>(word >> 63);  // 0 or -1: (v ^ sign) - sign negates
  piece_[first] += (low ^ sign) - sign;
  piece_[first + 1] += (middle ^ sign) - sign;
  piece_[first + 2] += (high ^ sign) - sign;
}

/// Normalises every piece but the last to 0 to 2^32 - 1.
void ExactSum::carry() {
  for (int k = 0; k + 1 < pieces; ++k) {
    piece_[k + 1] += piece_[k] >> bits;  // towards minus infinity
    piece_[k] &= low_bits;
  }
}

double ExactSum::value() const {
  if (broken_ > 0) return std::numeric_limits<double>::quiet_NaN();
  ExactSum sum = *this;
  sum.carry();
  const bool negative = sum.piece_[pieces - 1] < 0;
  if (negative) {
    for (auto& piece : sum.piece_) piece = -piece;
    sum.carry();
  }
  int top = pieces - 1;
  while (top > 0 && sum.piece_[top] == 0) --top;
  unsigned __int128 head = 0;  // the highest 96 bits, and a sticky bit that is set if any lower one is
  for (int k = top; k > top - 3; --k) head = head << bits | static_cast<std::uint64_t>(k >= 0 ? sum.piece_[k] : 0);
  bool more = false;
  for (int k = top - 3; k >= 0; --k) more = more || sum.piece_[k] != 0;
  const double rounded = static_cast<double>(head << 1 | static_cast<unsigned>(more));
  const double size = std::ldexp(rounded, bits * (top - 2) - 1075 - 1);
  return negative ? -size : size;
}

void ExactSum::over_ranks(std::span<ExactSum> sums, const Comm& comm) {
  std::vector<std::int64_t> all;
  for (auto& sum : sums) {
    sum.carry();
    all.insert(all.end(), sum.piece_.begin(), sum.piece_.end());
    all.push_back(sum.broken_);
  }
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, comm.handle());
  const std::int64_t* next = all.data();
  for (auto& sum : sums) {
    for (auto& piece : sum.piece_) piece = *next++;
    sum.broken_ = *next++;
  }
}

double exact_sum(std::span<const double> values, const Comm& comm) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  ExactSum::over_ranks({&sum, 1}, comm);
  return sum.value();
}

}  // namespace cambium
