#include "plugins/superres/datasets/crops.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {

void Crops::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "HDF5 files of p, b, u, w by (t, x, z), one for each initial state")
      .example("[\"{run}/simulate/fields.h5\"]");
  d("ratio", &Params::ratio,
    "sampling ratio: grid points of the data per coarse sample along t, x and z; need not be an integer")
      .def({2.0, 4.0, 4.0});
  d("scales", &Params::scales,
    "factors of 'ratio' along x and z for training on several sampling ratios with one model; 'crop' is then in its "
    "samples")
      .def({1.0});
  d("crop", &Params::crop, "coarse samples of a crop along t, x and z; 0 takes all").def({4, 0, 0});
  d("points", &Params::points, "number of points in a crop at which the fields are compared").at_least(1).def(256);
  d("samples", &Params::samples, "crops that count as one pass over the data").at_least(1).def(1000);
  d("frames", &Params::frames, "frames to use, from the end").at_least(2).def(200);
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d("seed", &Params::seed, "seed of crops and points").at_least(0).def(1);
  d.check([](const Params& p) {
    for (double r : p.ratio)
      if (!(r >= 1.0)) return "'ratio' must be at least 1 along every axis";
    return p.data.empty() ? "'data' names no file" : "";
  });
  d.check([](const Params& p) {
    for (double scale : p.scales)
      if (!(scale * std::min(p.ratio[1], p.ratio[2]) >= 1.0)) return "'scales': ratio times a scale must be at least 1";
    return p.scales.empty() ? "'scales' names no scale; 1 is that of 'ratio'" : "";
  });
}

void Crops::open(Context& context) {
  sources_.clear();
  for (const auto& path : params_.data) {
    const auto fine = std::make_shared<const FieldData>(
        read_fields(path, flow_fields, static_cast<std::size_t>(params_.frames), params_.periodic));
    for (double scale : params_.scales) {
      const std::array<double, 3> ratio{params_.ratio[0], scale * params_.ratio[1], scale * params_.ratio[2]};
      Windows windows(coarsened(*fine, ratio), params_.crop, ratio);
      if (!sources_.empty() &&
          (windows.size() != sources_.front().windows.size() || windows.wraps() != sources_.front().windows.wraps()))
        throw KeyError("crops.data.size", "data",
                       fmt::format("'{}' gives crops of another size than '{}'; name 'crop' in samples instead of 0, "
                                   "or use files of one grid",
                                   path, params_.data.front()) +
                           (params_.scales.size() > 1 ? " and one scale" : ""));
      sources_.push_back({fine, std::move(windows)});
    }
  }
  const auto& s = sources_.front();
  context.log.info(fmt::format(
      "{} file(s) of {} x {} points, {} frames in the first, {}; crops of {} x {} x {} coarse samples (t, x, z), {}",
      params_.data.size(), s.fine->nx(), s.fine->nz(), s.fine->axis[0].size(), ends_of_x(*s.fine), s.windows.size()[0],
      s.windows.size()[1], s.windows.size()[2], spacing_words(*s.fine, s.windows.coarse())));
}

std::vector<train::FieldInfo> Crops::fields() const {
  const auto& w = sources_.front().windows;
  const auto& n = w.size();
  const std::int64_t fields = std::ssize(flow_fields);
  return {{"coarse", "", {fields, n[0], n[1], n[2]}, DType::f32}, {"t", "", {n[0]}, DType::f64},
          {"x", "", {n[1] + (w.wraps() ? 1 : 0)}, DType::f64},    {"z", "", {n[2]}, DType::f64},
          {"points", "", {params_.points, 3}, DType::f64},        {"values", "", {params_.points, fields}, DType::f32}};
}

static std::int64_t pick(double uniform, std::int64_t count) {
  return std::min(static_cast<std::int64_t>(uniform * static_cast<double>(count)), count - 1);
}

Crops::Place Crops::place(const Source& source, const Random4& choice) const {
  Place out;
  for (int a = 0; a < 3; ++a) {
    out.start[a] = static_cast<int>(pick(choice.uniform(a), source.windows.starts(a)));
    const auto& axis = source.fine->axis[a];
    const double period = source.fine->period;
    const auto nodes = source.windows.nodes(a, out.start[a]);
    const double slack = 1e-9 * (nodes.back() - nodes.front());
    const std::int64_t n = std::ssize(axis), turns = a == 1 && period > 0.0 ? 2 : 1;
    for (std::int64_t k = 0; k < n * turns; ++k) {
      const double x = axis[k % n] + static_cast<double>(k / n) * period;
      if (x >= nodes.front() - slack && x <= nodes.back() + slack) out.inside[a].push_back(k);
    }
  }
  return out;
}

/// Points of a window that are not masked.
static std::vector<std::array<std::int64_t, 3>> seen(const FieldData& fine,
                                                     const std::array<std::vector<std::int64_t>, 3>& inside) {
  std::vector<std::array<std::int64_t, 3>> out;
  for (auto t : inside[0])
    for (auto x : inside[1])
      for (auto z : inside[2])
        if (!fine.is_hidden(t, x % std::ssize(fine.axis[1]), z)) out.push_back({t, x, z});
  return out;
}

train::SamplePtr Crops::make(std::int64_t id) const {
  const auto seed = static_cast<std::uint64_t>(params_.seed), number = static_cast<std::uint64_t>(id);
  const auto& source = sources_[number % sources_.size()];
  const auto& fine = *source.fine;
  auto window = place(source, Random4(seed, Stream::made_samples, number, 0));
  std::vector<std::array<std::int64_t, 3>> open;
  if (!fine.hidden.empty())  // ends, since windows cover the data and no frame is entirely hidden
    for (std::uint64_t again = 1; (open = seen(fine, window.inside)).empty(); ++again)
      window = place(source, Random4(seed, Stream::made_samples, number, (again << 40)));
  std::vector<double> points;
  std::vector<float> values;
  for (std::int64_t p = 0; p < params_.points; ++p) {
    const Random4 random(seed, Stream::made_samples, number, static_cast<std::uint64_t>(p) + 1);
    std::array<std::int64_t, 3> at{};
    if (open.empty())
      for (int a = 0; a < 3; ++a) at[a] = window.inside[a][pick(random.uniform(a), std::ssize(window.inside[a]))];
    else
      at = open[pick(random.uniform(0), std::ssize(open))];
    for (int a = 0; a < 3; ++a) {
      const auto n = std::ssize(fine.axis[a]);
      points.push_back(fine.axis[a][at[a] % n] + static_cast<double>(at[a] / n) * fine.period);
      at[a] %= n;
    }
    for (std::size_t f = 0; f < flow_fields.size(); ++f)
      values.push_back(static_cast<float>(fine.at(f, at[0], at[1], at[2])));
  }
  return source.windows.sample(window.start, std::move(points), std::move(values), id);
}

std::vector<train::SamplePtr> Crops::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (auto id : ids) out.push_back(make(id));
  return out;
}

}  // namespace cambium::superres
