#include "plugins/superres/evaluate/decode_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/equations/mask.hpp"
#include "plugins/superres/evaluate/refinement.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

/// A position within a window along one axis: its index among the positions, its coordinate in the window, its weight.
struct Hit {
  std::size_t place;
  double coordinate, weight;
};

/// From 0 at a window's end to 1 in its middle, with two continuous derivatives.
double rise(double s) {
  s = std::clamp(2.0 * s, 0.0, 1.0);
  return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
}

/// Range along z in which a network gives outputs.
std::array<double, 2> reach_of(const train::LoadedModel& model, const FieldData& coarse) {
  std::array<double, 2> out{coarse.axis[2].front(), coarse.axis[2].back()};
  const auto* const network = dynamic_cast<const KnowsPlates*>(model.network.get());
  if (const auto plates = network ? network->plates() : std::nullopt)
    out = {std::min(out[0], (*plates)[0]), std::max(out[1], (*plates)[1])};
  return out;
}

/// The outermost windows along z extend to the ends of `reach`.
std::vector<Hit> hits(const Windows& windows, int axis, int start, const std::vector<double>& places,
                      const std::array<double, 2>& reach) {
  const auto nodes = windows.nodes(axis, start);
  const double low = axis == 2 && start == 0 ? reach[0] : nodes.front();
  const double high = axis == 2 && start == windows.starts(axis) - 1 ? reach[1] : nodes.back(),
               slack = 1e-9 * (high - low);
  const bool periodic = axis == 1 && windows.coarse().period > 0.0;
  const bool alone = axis == 1 && windows.wraps();
  const bool first = alone || (!periodic && start == 0),
             last = alone || (!periodic && start == windows.starts(axis) - 1);
  std::vector<Hit> out;
  for (std::size_t k = 0; k < places.size(); ++k)
    for (double shift : periodic ? std::vector<double>{0.0, windows.coarse().period} : std::vector<double>{0.0}) {
      const double x = places[k] + shift, s = (x - low) / (high - low);
      if (x < low - slack || x > high + slack) continue;
      const double weight =
          std::max(1e-9, (first ? 1.0 : rise(s)) * (last ? 1.0 : rise(1.0 - s)));  // if windows only touch
      if (out.empty() || out.back().place != k) out.push_back({k, std::clamp(x, low, high), weight});
    }
  return out;
}

/// First samples of windows that overlap by half.
std::vector<int> starts(const Windows& windows, int axis) {
  if (axis == 1 && windows.wraps()) return {0};
  const int count = windows.starts(axis), stride = std::max(1, windows.size()[axis] / 2);
  std::vector<int> out;
  for (int k = 0; k < count; k += stride) out.push_back(k);
  if (out.back() != count - 1 && !(axis == 1 && windows.coarse().period > 0.0)) out.push_back(count - 1);
  return out;
}

void require_inside(const FieldData& coarse, const Places& places, const std::array<double, 2>& reach) {
  constexpr const char* names[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a) {
    const double low = a == 2 ? reach[0] : coarse.axis[a].front();
    const double high = a == 2 ? reach[1] : a == 1 && coarse.period > 0.0 ? low + coarse.period : coarse.axis[a].back();
    const double slack = 1e-9 * (high - low);
    for (double x : places[a])
      if (x < low - slack - (a == 1 ? coarse.period : 0.0) || x > high + slack)
        throw InputError(
            fmt::format("a point at {} = {:g} is outside the coarse samples of '{}', which span {} = {:g} to {:g}; a "
                        "model does not extrapolate: choose points within",
                        names[a], x, coarse.file, names[a], low, high));
  }
}

std::array<int, 3> crop_of(const train::LoadedModel& model, const std::string& file) {
  for (const auto& field : model.info.fields)
    if (field.info.name == "future")
      throw InputError(fmt::format(
          "model '{}' forecasts frames and does not rebuild them from coarse samples: score it by score_forecasts",
          file));
  for (const auto& field : model.info.fields)
    if (field.info.name == "coarse" && field.info.shape.size() == 4)
      return {static_cast<int>(field.info.shape[1]), static_cast<int>(field.info.shape[2]),
              static_cast<int>(field.info.shape[3])};
  throw InputError(
      fmt::format("model '{}' is of type '{}', which does not read coarse samples of a flow; give a meshfree_flow_net, "
                  "a flow_unet or a fourier_operator",
                  file, model.info.type));
}

}  // namespace

FieldData decoded_in_windows(train::LoadedModel& model, const std::string& file, const FieldData& coarse,
                             const std::array<double, 3>& ratio, const Places& places, const WindowsDone& tell) {
  const auto reach = reach_of(model, coarse);
  require_inside(coarse, places, reach);
  const Windows windows(coarse, crop_of(model, file), ratio);
  FieldData out = coarse;
  out.axis = places;
  out.hidden = hidden_at(coarse, places);
  const std::size_t nx = places[1].size(), nz = places[2].size(), all = places[0].size() * nx * nz,
                    fields = flow_fields.size();
  for (auto& values : out.values) values.assign(all, 0.0);
  std::vector<double> sum(all, 0.0);
  const auto along_t = starts(windows, 0), along_x = starts(windows, 1), along_z = starts(windows, 2);
  std::size_t done = 0;
  for (int t : along_t)
    for (int x : along_x)
      for (int z : along_z) {
        if (tell && done > 0) tell(done, along_t.size() * along_x.size() * along_z.size());
        ++done;
        const auto ht = hits(windows, 0, t, places[0], reach), hx = hits(windows, 1, x, places[1], reach),
                   hz = hits(windows, 2, z, places[2], reach);
        std::vector<double> points;
        for (const auto& a : ht)
          for (const auto& b : hx)
            for (const auto& c : hz) points.insert(points.end(), {a.coordinate, b.coordinate, c.coordinate});
        if (points.empty()) continue;
        const auto count = std::ssize(points) / 3;
        const train::SamplePtr sample = windows.sample({t, x, z}, std::move(points), {}, 0);
        std::vector<double> answer(static_cast<std::size_t>(count) * fields);
        auto view = io::tensor_of(answer.data(), {1, count, std::ssize(flow_fields)});
        model.network->infer(std::span(&sample, 1), model.weights.views(), std::span(&view, 1));
        std::size_t n = 0;
        for (const auto& a : ht)
          for (const auto& b : hx)
            for (const auto& c : hz) {
              const std::size_t at = (a.place * nx + b.place) * nz + c.place;
              const double weight = a.weight * b.weight * c.weight;
              for (std::size_t f = 0; f < fields; ++f) out.values[f][at] += weight * answer[n * fields + f];
              sum[at] += weight;
              ++n;
            }
      }
  for (auto& values : out.values)
    for (std::size_t k = 0; k < all; ++k) values[k] /= sum[k];
  return out;
}

Places spanning_places(const FieldData& data, const std::array<int, 3>& count, const std::array<double, 2>& times,
                       const std::array<double, 2>& heights) {
  Places out;
  for (int k = 0; k < count[0]; ++k)
    out[0].push_back(times[0] + (count[0] > 1 ? (times[1] - times[0]) * k / (count[0] - 1) : 0.0));
  const double x0 = data.axis[1].front();
  if (data.period > 0.0)
    for (int k = 0; k < count[1]; ++k) out[1].push_back(x0 + data.period * k / count[1]);
  else
    out[1] = coarse_places(data.axis[1], count[1], false);
  std::vector<double> z{heights[0]};
  for (double height : data.axis[2])
    if (height > heights[0] && height < heights[1]) z.push_back(height);
  z.push_back(heights[1]);
  out[2] = coarse_places(z, count[2], false);
  return out;
}

}  // namespace cambium::superres
