#include "plugins/pretrain/networks/conv_shape.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cambium::pretrain {
namespace {

std::int64_t product(const std::vector<std::int64_t>& n) {
  return std::accumulate(n.begin(), n.end(), std::int64_t{1}, std::multiplies<>());
}

struct Tap {
  std::int64_t weight, offset;
};

/// Cells along one axis with the same taps.
struct Line {
  std::vector<Tap> taps;
  std::vector<std::int64_t> from, to;
};

/// A missing axis.
const Line single{{{0, 0}}, {0}, {0}};

/// Result j: cells stride j - 1 to stride j + 1, numbered from stride j including the padding.
Line forward_line(std::int64_t n, std::int64_t stride) {
  Line out{{{0, 0}, {1, 1}, {2, 2}}, {}, {}};
  for (std::int64_t j = 0; j < (n + stride - 1) / stride; ++j) {
    out.from.push_back(stride * j);
    out.to.push_back(j);
  }
  return out;
}

/// Cell i contributes to result (i - k + 1) / stride by tap k, here 2 - k, if that is an integer.
std::vector<Line> backward_lines(std::int64_t n, std::int64_t stride) {
  if (stride == 1) {
    Line out{{{0, 0}, {1, 1}, {2, 2}}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      out.from.push_back(i);
      out.to.push_back(i);
    }
    return {out};
  }
  Line even{{{1, 1}}, {}, {}}, odd{{{0, 1}, {2, 2}}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    Line& line = i % 2 ? odd : even;
    line.from.push_back(i / 2);
    line.to.push_back(i);
  }
  return odd.from.empty() ? std::vector<Line>{even} : std::vector<Line>{even, odd};
}

/// Appends a tap to the previous ones.
void add(const Tap& tap, std::vector<Gathering::Run>& runs) {
  if (!runs.empty())
    if (auto& last = runs.back(); last.weight + last.length == tap.weight && last.offset + last.length == tap.offset) {
      ++last.length;
      return;
    }
  runs.push_back({tap.weight, tap.offset, 1});
}

/// Tensor product of three lines; numbers of results and weights along each axis.
Gathering all_of(const std::array<const Line*, 3>& lines, const std::array<std::int64_t, 3>& results,
                 const std::array<std::int64_t, 3>& weights, const Surrounded& around) {
  Gathering out;
  const auto& [a, b, c] = lines;
  for (const auto& i : a->taps)
    for (const auto& j : b->taps)
      for (const auto& k : c->taps)
        add({(i.weight * weights[1] + j.weight) * weights[2] + k.weight, around.number({i.offset, j.offset, k.offset})},
            out.runs);
  for (std::size_t i = 0; i < a->from.size(); ++i)
    for (std::size_t j = 0; j < b->from.size(); ++j)
      for (std::size_t k = 0; k < c->from.size(); ++k) {
        out.from.push_back(around.number({a->from[i], b->from[j], c->from[k]}));
        out.to.push_back((a->to[i] * results[1] + b->to[j]) * results[2] + c->to[k]);
      }
  return out;
}

/// Along three axes, of which the first may be missing.
template <class X>
std::array<X, 3> three(const std::vector<X>& values, const X& first) {
  std::array<X, 3> out{first, first, first};
  std::copy(values.begin(), values.end(), out.end() - static_cast<std::ptrdiff_t>(values.size()));
  return out;
}

std::array<std::int64_t, 3> three_taps(const ConvShape& shape) {
  return three(std::vector<std::int64_t>(shape.cells.size(), 3), std::int64_t{1});
}

}  // namespace

std::int64_t ConvShape::cells_in() const { return product(cells); }
std::int64_t ConvShape::cells_out() const { return product(out()); }

std::vector<std::int64_t> ConvShape::out() const {
  auto n = cells;
  for (auto& k : n) k = (k + stride - 1) / stride;
  return n;
}

bool ConvShape::handled() const {
  for (std::size_t a = 0; a < cells.size(); ++a)
    if (stride == 2 && periodic[a] && cells[a] % 2 != 0) return false;
  return outputs % 4 == 0 && (stride == 1 || stride == 2);
}

Surrounded::Surrounded(const std::vector<std::int64_t>& cells, const std::vector<std::int64_t>& periodic) {
  const auto n = three(cells, std::int64_t{0}), wraps = three(periodic, std::int64_t{0});
  std::array<std::vector<std::int64_t>, 3> from;
  for (std::size_t a = 0; a < 3; ++a) {
    if (n[a] == 0) {
      from[a] = {0};
      continue;
    }
    for (std::int64_t i = -1; i <= n[a]; ++i)
      from[a].push_back(i >= 0 && i < n[a] ? i : wraps[a] ? (i + n[a]) % n[a] : -1);
    edge_[a] = n[a] + 2;
  }
  for (const auto i : from[0])
    for (const auto j : from[1])
      for (const auto k : from[2]) add(i < 0 || j < 0 || k < 0 ? -1 : (i * n[1] + j) * n[2] + k);
}

void Surrounded::add(std::int64_t from) {
  if (!stretches_.empty())
    if (auto& last = stretches_.back(); from < 0 ? last.from < 0 : last.from >= 0 && last.from + last.count == from) {
      ++last.count;
      return;
    }
  stretches_.push_back({from, 1});
}

template <class T>
void Surrounded::fill(const T* values, std::int64_t channels, T* to) const {
  for (const auto& [from, count] : stretches_)
    to = from < 0 ? std::fill_n(to, count * channels, T(0))
                  : std::copy_n(values + from * channels, count * channels, to);
}

std::int64_t Gathering::step_of_four() const {
  if (from.size() < 4) return 0;
  const auto step = from[1] - from[0];
  for (std::size_t k = 0; k + 4 <= from.size(); k += 4)
    for (std::size_t r = 1; r < 4; ++r)
      if (from[k + r] - from[k + r - 1] != step) return 0;
  return step;
}

Gathering forward_gathering(const ConvShape& shape, const Surrounded& entering) {
  std::vector<Line> lines;
  for (const auto n : shape.cells) lines.push_back(forward_line(n, shape.stride));
  const auto all = three(lines, single);
  return all_of({&all[0], &all[1], &all[2]}, three(shape.out(), std::int64_t{1}), three_taps(shape), entering);
}

std::vector<Gathering> backward_gatherings(const ConvShape& shape, const Surrounded& leaving) {
  std::vector<std::vector<Line>> lines;
  for (const auto n : shape.cells) lines.push_back(backward_lines(n, shape.stride));
  const auto all = three(lines, {single});
  std::vector<Gathering> out;
  for (const auto& a : all[0])
    for (const auto& b : all[1])
      for (const auto& c : all[2])
        out.push_back(all_of({&a, &b, &c}, three(shape.cells, std::int64_t{1}), three_taps(shape), leaving));
  return out;
}

template void Surrounded::fill(const float*, std::int64_t, float*) const;
template void Surrounded::fill(const double*, std::int64_t, double*) const;

}  // namespace cambium::pretrain
