#pragma once
// A network of the search space, written down straight from its genome: float64, one sample, one time and one cell
// after the other, no graph. Weights are taken in the order in which the layers ask for them.
#include <cmath>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/train/kinds/buffer.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm::oracle {

using Sequence = std::vector<std::vector<double>>;  // [time][feature]

/// Hands out tensors one after the other as float64, one of them moved along a direction.
struct Weights {
  const train::FlatBuffer& buffer;
  int moved;
  const std::vector<double>& direction;
  double step;
  std::size_t next = 0;
  std::vector<double> take() {
    std::vector<double> out;
    for (float w : buffer.values<float>(next)) out.push_back(w);
    if (static_cast<int>(next) == moved)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += step * direction[i];
    ++next;
    return out;
  }
  /// A matrix, or the product of its factors.
  std::vector<double> take_matrix() {
    const auto& tensors = buffer.layout().tensors();
    if (!tensors[next].info.name.ends_with(".enter")) return take();
    const auto rank = static_cast<std::size_t>(tensors[next].info.shape[1]);
    const auto enter = take(), leave = take();
    const std::size_t rows = enter.size() / rank, columns = leave.size() / rank;
    std::vector<double> out(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t r = 0; r < rank; ++r) out[i * columns + j] += enter[i * rank + r] * leave[r * columns + j];
    return out;
  }
};

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline Sequence recurrent(Cell cell, const Sequence& x, std::size_t n, Weights& w) {
  const auto wx = w.take_matrix(), wh = w.take_matrix(), b = w.take();
  const std::size_t gates = cell == Cell::lstm ? 4 : 3;
  std::vector<double> h(n, 0.0), c(n, 0.0);
  Sequence out;
  for (const auto& row : x) {
    auto from_x = [&](std::size_t gate, std::size_t j) {
      double s = b[gate * n + j];
      for (std::size_t i = 0; i < row.size(); ++i) s += row[i] * wx[i * gates * n + gate * n + j];
      return s;
    };
    auto from_h = [&](std::size_t gate, std::size_t j) {
      double s = 0.0;
      for (std::size_t i = 0; i < n; ++i) s += h[i] * wh[i * gates * n + gate * n + j];
      return s;
    };
    std::vector<double> now(n);
    for (std::size_t j = 0; j < n; ++j) {
      if (cell == Cell::lstm) {
        const double i = sigmoid(from_x(0, j) + from_h(0, j)), f = sigmoid(from_x(1, j) + from_h(1, j));
        const double g = std::tanh(from_x(2, j) + from_h(2, j)), o = sigmoid(from_x(3, j) + from_h(3, j));
        c[j] = f * c[j] + i * g;
        now[j] = o * std::tanh(c[j]);
      } else {
        const double r = sigmoid(from_x(0, j) + from_h(0, j)), z = sigmoid(from_x(1, j) + from_h(1, j));
        const double candidate = std::tanh(from_x(2, j) + r * (from_h(2, j) + b[3 * n + j]));
        now[j] = (1.0 - z) * candidate + z * h[j];
      }
    }
    h = now;
    out.push_back(h);
  }
  return out;
}

inline Sequence network(const Genome& genome, Cell cell, Sequence input, Weights& w) {
  const std::size_t widths[] = {0, 16, 32, 48, 64, 80, 96};
  std::vector<Sequence> anchors = {input};
  Sequence value = input;
  std::size_t d = 0;
  for (int layer = 0; layer < 5; ++layer) {
    const std::size_t width = widths[genome[d++]];
    Sequence out = width ? recurrent(cell, value, width, w) : value;
    bool any = false;
    const std::size_t first = anchors.size() > 2 ? anchors.size() - 2 : 0;  // at most two
    for (std::size_t a = first; a < anchors.size(); ++a) {
      if (genome[d++] == 0) continue;
      any = true;
      const std::size_t from = anchors[a][0].size(), to = out[0].size();
      std::vector<double> p, b;
      if (from != to) {
        p = w.take_matrix();
        b = w.take();
      }
      for (std::size_t t = 0; t < out.size(); ++t)
        for (std::size_t j = 0; j < to; ++j) {
          if (from == to)
            out[t][j] += anchors[a][t][j];
          else
            out[t][j] += b[j];
          for (std::size_t i = 0; from != to && i < from; ++i) out[t][j] += anchors[a][t][i] * p[i * to + j];
        }
    }
    if (any)
      for (auto& row : out)
        for (double& x : row) x = x > 0.0 ? x : 0.0;
    value = out;
    anchors.push_back(value);
  }
  return value;
}

inline double mean_square(const Genome& genome, Cell cell, Head head, const train::FlatBuffer& buffer,
                          const train::Sample& sample, int past, int features, int modes, int moved = -1,
                          const std::vector<double>& direction = {}, double step = 0.0) {
  Weights w{buffer, moved, direction, step};
  const float *x = static_cast<const float*>(sample.fields.at("window").data),
              *y = static_cast<const float*>(sample.fields.at("target").data);
  Sequence input;
  for (int t = 0; t < past; ++t) input.emplace_back(x + t * features, x + (t + 1) * features);
  const Sequence value = network(genome, cell, input, w);
  std::vector<double> out;
  if (head == Head::recurrent) {
    for (const auto& row : recurrent(cell, value, static_cast<std::size_t>(modes), w))
      out.insert(out.end(), row.begin(), row.end());
  } else {
    const auto dense = w.take_matrix(), b = w.take();
    for (std::size_t j = 0; j < b.size(); ++j) {
      double s = b[j];
      for (std::size_t t = 0; t < value.size(); ++t)
        for (std::size_t i = 0; i < value[t].size(); ++i)
          s += value[t][i] * dense[(t * value[t].size() + i) * b.size() + j];
      out.push_back(s);
    }
  }
  double sum = 0.0;
  for (std::size_t j = 0; j < out.size(); ++j)
    sum += (out[j] - y[j]) * (out[j] - y[j]) / static_cast<double>(out.size());
  return sum;
}

}  // namespace cambium::podlstm::oracle
