#include "plugins/superres/networks/answers.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cambium::superres {
namespace {

namespace F = torch::nn::functional;

template <class Call>
void with_real(const torch::Tensor& x, Call&& call) {
  if (x.scalar_type() == torch::kFloat64)
    call(double{});
  else
    call(float{});
}

/// Sum of values, or of squared deviations from `mean`, in independent lanes that vectorise.
template <bool squares, class T>
double summed(const T* x, std::int64_t n, T mean) {
  constexpr std::int64_t lanes = 32, stretch = 1024;
  double sum = 0.0;
  for (std::int64_t begin = 0; begin < n; begin += stretch) {
    const std::int64_t end = std::min(n, begin + stretch), whole = begin + (end - begin) / lanes * lanes;
    T lane[lanes] = {};
    for (std::int64_t k = begin; k < whole; k += lanes)
      for (std::int64_t j = 0; j < lanes; ++j) {
        const T d = x[k + j] - mean;
        lane[j] += squares ? d * d : d;
      }
    for (const T part : lane) sum += static_cast<double>(part);
    for (std::int64_t k = whole; k < end; ++k) {
      const T d = x[k] - mean;
      sum += static_cast<double>(squares ? d * d : d);
    }
  }
  return sum;
}

template <bool cut, class T>
void shift(T* x, const T* beside, std::int64_t n, T mean, T factor, T constant) {
  for (std::int64_t k = 0; k < n; ++k) {
    T y = (x[k] - mean) * factor + constant;
    if (beside) y += beside[k];
    x[k] = cut && y < T(0) ? T(0) : y;  // NaN is preserved
  }
}

template <class T>
void norm_in_place(torch::Tensor& x, const torch::nn::GroupNormImpl& norm, bool cut, const T* beside) {
  const auto batch = x.size(0), channels = x.size(1), nodes = x.numel() / (batch * channels);
  const auto groups = norm.options.num_groups(), each = channels / groups;
  const T *gain = norm.weight.data_ptr<T>(), *bias = norm.bias.data_ptr<T>();
  T* values = x.data_ptr<T>();
  for (std::int64_t group = 0; group < batch * groups; ++group) {
    const std::int64_t count = each * nodes;
    const T* of_group = values + group * count;
    const double mean = summed<false>(of_group, count, T(0)) / static_cast<double>(count);
    const double square = summed<true>(of_group, count, static_cast<T>(mean)) / static_cast<double>(count);
    const double inverse = 1.0 / std::sqrt(square + norm.options.eps());
    for (std::int64_t c = 0; c < each; ++c) {
      const std::int64_t channel = group % groups * each + c, at = group * count + c * nodes;
      const T factor = static_cast<T>(static_cast<double>(gain[channel]) * inverse);
      (cut ? shift<true, T> : shift<false, T>)(values + at, beside ? beside + at : nullptr, nodes, static_cast<T>(mean),
                                               factor, bias[channel]);
    }
  }
}

/// Coarse index of every fine one along an axis, as in Torch's nearest mode.
std::vector<std::int64_t> nearest_places(std::int64_t coarse, std::int64_t fine) {
  std::vector<std::int64_t> out;
  const float scale = static_cast<float>(coarse) / static_cast<float>(fine);
  for (std::int64_t k = 0; k < fine; ++k)
    out.push_back(std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(k) * scale)), coarse - 1));
  return out;
}

template <class T>
void enlarge(const torch::Tensor& from, torch::Tensor& to) {
  std::vector<std::int64_t> places[3];
  for (int a = 0; a < 3; ++a) places[a] = nearest_places(from.size(2 + a), to.size(2 + a));
  const std::int64_t nx = from.size(3), nz = from.size(4), fine = to.size(4);
  const T* x = from.data_ptr<T>();
  T* y = to.data_ptr<T>();
  for (std::int64_t image = 0; image < from.size(0) * from.size(1); ++image, x += from.size(2) * nx * nz)
    for (const auto t : places[0]) {
      std::int64_t before = -1;
      for (const auto i : places[1]) {
        const T* row = x + (t * nx + i) * nz;
        if (i == before)
          std::copy(y - fine, y, y);
        else
          for (std::int64_t k = 0; k < fine; ++k) y[k] = row[places[2][k]];
        y += fine;
        before = i;
      }
    }
}

template <class T>
T larger(T a, T b) {
  return a > b || std::isnan(a) ? a : b;
}

template <class T>
void pool(const torch::Tensor& from, torch::Tensor& to, const std::vector<std::int64_t>& step) {
  const std::int64_t nt = from.size(2), nx = from.size(3), nz = from.size(4), coarse = to.size(4);
  const T* x = from.data_ptr<T>();
  T* y = to.data_ptr<T>();
  std::vector<T> row(nz);
  for (std::int64_t image = 0; image < from.size(0) * from.size(1); ++image, x += nt * nx * nz)
    for (std::int64_t t = 0; t < to.size(2); ++t)
      for (std::int64_t i = 0; i < to.size(3); ++i, y += coarse) {
        bool first = true;
        for (std::int64_t s = t * step[0]; s < std::min(nt, (t + 1) * step[0]); ++s)
          for (std::int64_t j = i * step[1]; j < std::min(nx, (i + 1) * step[1]); ++j, first = false) {
            const T* in = x + (s * nx + j) * nz;
            for (std::int64_t k = 0; k < nz; ++k) row[k] = first ? in[k] : larger(row[k], in[k]);
          }
        for (std::int64_t k = 0; k < coarse; ++k) {
          const auto a = static_cast<std::size_t>(k * step[2]);
          y[k] = step[2] == 2 && a + 1 < row.size() ? larger(row[a], row[a + 1]) : row[a];
        }
      }
}

template <class T>
void interpolate(const DecoderQuery<double>& q, const torch::Tensor& nodes, torch::Tensor& out) {
  const std::int64_t fields = nodes.size(0), of_field = nodes.numel() / fields;
  const T* x = nodes.data_ptr<T>();
  T* y = out.data_ptr<T>();
  for (std::int64_t p = 0; p < q.points; ++p)
    for (std::int64_t f = 0; f < fields; ++f) {
      double sum = 0.0;
      for (std::int64_t c = 8 * p; c < 8 * (p + 1); ++c)
        sum += q.weight[c] * static_cast<double>(x[f * of_field + q.node[c]]);
      *y++ = static_cast<T>(sum);
    }
}

}  // namespace

bool answers_only(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && x.is_contiguous() && x.numel() > 0 &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64);
}

torch::Tensor normed(torch::Tensor x, torch::nn::GroupNorm& norm, bool cut, const torch::Tensor& beside) {
  const bool plain = !beside.defined() || (beside.is_contiguous() && beside.scalar_type() == x.scalar_type());
  if (!answers_only(x) || !plain) {
    auto y = norm->forward(x);
    if (beside.defined()) y = y + beside;
    return cut ? torch::relu(y) : y;
  }
  RECORD_FUNCTION("superres::group_norm", std::vector<c10::IValue>{});
  with_real(x, [&]<class T>(T) { norm_in_place<T>(x, *norm, cut, beside.defined() ? beside.data_ptr<T>() : nullptr); });
  return x;
}

torch::Tensor enlarged(const torch::Tensor& x, const std::array<std::int64_t, 3>& size) {
  const std::vector<std::int64_t> sizes(size.begin(), size.end());
  if (!answers_only(x)) return F::interpolate(x, F::InterpolateFuncOptions().size(sizes).mode(torch::kNearest));
  RECORD_FUNCTION("superres::upsample", std::vector<c10::IValue>{});
  auto out = torch::empty({x.size(0), x.size(1), size[0], size[1], size[2]}, x.options());
  with_real(x, [&]<class T>(T) { enlarge<T>(x, out); });
  return out;
}

torch::Tensor pooled(const torch::Tensor& x, const std::array<std::int64_t, 3>& from,
                     const std::array<std::int64_t, 3>& to) {
  std::vector<std::int64_t> kernel;
  for (std::size_t a = 0; a < 3; ++a) kernel.push_back(to[a] < from[a] ? 2 : 1);
  if (!answers_only(x)) return F::max_pool3d(x, F::MaxPool3dFuncOptions(kernel).stride(kernel).ceil_mode(true));
  RECORD_FUNCTION("superres::max_pool", std::vector<c10::IValue>{});
  auto out = torch::empty({x.size(0), x.size(1), to[0], to[1], to[2]}, x.options());
  with_real(x, [&]<class T>(T) { pool<T>(x, out, kernel); });
  return out;
}

torch::Tensor interpolated(const LatentCells& cells, const torch::Tensor& points, const torch::Tensor& nodes) {
  static const JetBasis value({});
  const auto q = locate<double>(cells, points.data_ptr<double>(), points.size(0), Blend::trilinear, value);
  if (answers_only(nodes)) {
    RECORD_FUNCTION("superres::interpolate", std::vector<c10::IValue>{});
    auto out = torch::empty({points.size(0), nodes.size(0)}, nodes.options());
    with_real(nodes, [&]<class T>(T) { interpolate<T>(q, nodes, out); });
    return out;
  }
  const auto by_node = nodes.permute({1, 2, 3, 0}).reshape({-1, nodes.size(0)});
  const auto rows = by_node.index_select(0, torch::tensor(q.node));
  const auto weights = torch::tensor(q.weight, torch::kFloat64).to(nodes.dtype());
  return (rows * weights.unsqueeze(1)).reshape({points.size(0), 8, nodes.size(0)}).sum(1);
}

}  // namespace cambium::superres
