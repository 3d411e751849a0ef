#include "plugins/podlstm/pod/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/model_seal.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/podlstm/pod/calendar_steps.hpp"

namespace cambium::podlstm {

void SeriesParams::describe(deck::Describe<SeriesParams>& d) {
  d("file", &SeriesParams::file, "HDF5 file, such as the one that the stage `pod` writes").example("{run}/pod/pod.h5");
  d("coefficients", &SeriesParams::coefficients, "array (time, mode)").def("coefficients");
  d("train", &SeriesParams::train, "array (time, mode) of the training years, if it is separate").def("");
  d("test", &SeriesParams::test, "array (time, mode) of the test years, if it is separate").def("");
  d("time", &SeriesParams::time, "times, training before test; days unless the unit specifies otherwise").def("time");
  d("training", &SeriesParams::training, "number of training times, from the first on; default: as in the file")
      .at_least(1);
  d("cells", &SeriesParams::cells,
    "number of cells over which the modes are orthonormal, for errors per cell; 0: as in the file")
      .non_negative()
      .def(0.0);
  d.check([](const SeriesParams& p) {
    return p.train.empty() == p.test.empty() ? "" : "train and test: give both arrays, or none";
  });
}

namespace {

/// Steps longer than this many usual ones are gaps.
constexpr double gap = 1.5;

Matrix read_coefficients(const io::File& file, const std::string& name) {
  if (!file.exists(name))
    throw InputError(fmt::format("'{}' has no array '{}'{}", file.file(), name, suggestion(name, file.list())));
  const auto shape = file.dataset(name).shape();
  if (shape.size() != 2)
    throw InputError(
        fmt::format("'{}' of '{}' has {} dimension(s), expected (time, mode)", name, file.file(), shape.size()));
  Matrix out(shape[0], shape[1]);
  out.a = io::cf::decoded(file.dataset(name));
  for (std::int64_t t = 0; t < out.rows; ++t)
    for (std::int64_t k = 0; k < out.cols; ++k)
      if (!std::isfinite(out(t, k)))
        throw InputError(
            fmt::format("'{}' of '{}' is not finite at time {}, mode {}; a forecast needs every coefficient", name,
                        file.file(), t, k));
  return out;
}

Stretch part(const Matrix& a, const std::vector<double>& days, std::int64_t first, std::int64_t last) {
  Stretch out{Matrix(last - first, a.cols), {days.begin() + first, days.begin() + last}};
  std::copy_n(a.row(first), out.a.a.size(), out.a.a.data());
  return out;
}

std::string text_attribute(const io::Object& object, const char* name) {
  if (!object.has_attribute(name)) return "";
  const auto texts = object.attribute<std::vector<std::string>>(name);  // netCDF writes an empty text as none
  return texts.empty() ? "" : texts.front();
}

std::vector<double> read_days(const io::File& file, const SeriesParams& params, std::int64_t times,
                              io::cf::TimeUnit& unit) {
  if (!file.exists(params.time))
    throw InputError(fmt::format("'{}' has no array '{}' of times{}", file.file(), params.time,
                                 suggestion(params.time, file.list())));
  auto days = io::cf::decoded(file.dataset(params.time));
  if (std::ssize(days) != times)
    throw InputError(fmt::format("'{}' of '{}' has {} times, but there are {} coefficients in time", params.time,
                                 file.file(), days.size(), times));
  const auto array = file.dataset(params.time);
  const std::string where = fmt::format("times '{}' of '{}'", params.time, file.file());
  unit = io::cf::time_unit_of(text_attribute(array, "units"), text_attribute(array, "calendar"), where);
  const auto plain = io::cf::plain_unit(unit);
  days = io::cf::converted(days, unit, plain, where);
  unit = plain;
  for (double& d : days) d *= unit.days();
  for (std::size_t k = 1; k < days.size(); ++k)
    if (!(days[k] > days[k - 1]))
      throw InputError(fmt::format("times '{}' of '{}' do not increase: time {} is day {}, the one before day {}",
                                   params.time, file.file(), k, number_text(days[k]), number_text(days[k - 1])));
  return days;
}

Series read(const SeriesParams& params) {
  io::require_sound_model(params.file);
  const io::File file = io::File::open(params.file);
  Series out;
  if (!params.train.empty()) {
    const Matrix train = read_coefficients(file, params.train), test = read_coefficients(file, params.test);
    if (train.cols != test.cols)
      throw InputError(fmt::format("'{}' has {} modes, '{}' has {}", params.train, train.cols, params.test, test.cols));
    const auto days = read_days(file, params, train.rows + test.rows, out.time_unit);
    out.train = {train, {days.begin(), days.begin() + train.rows}};
    out.test = {test, {days.begin() + train.rows, days.end()}};
    const auto array = file.dataset(params.train);
    out.unit = text_attribute(array, "units");
  } else {
    const Matrix all = read_coefficients(file, params.coefficients);
    const auto days = read_days(file, params, all.rows, out.time_unit);
    const bool told = file.has_attribute("training_snapshots");
    const std::int64_t training =
        params.training.value_or(told ? file.attribute<std::int64_t>("training_snapshots") : all.rows);
    if (training > all.rows)
      throw KeyError("series.training.range", "training",
                     fmt::format("training: {} times requested, but '{}' has {}", training, params.file, all.rows));
    out.train = part(all, days, 0, training);
    out.test = part(all, days, training, all.rows);
    const auto array = file.dataset(params.coefficients);
    out.unit = text_attribute(array, "units");
    if (file.has_attribute("weight")) out.weight = file.attribute<double>("weight");
    if (file.exists("squared_norm")) {
      const auto squared = file.read<std::vector<double>>("squared_norm");
      for (std::int64_t t = training; t < all.rows; ++t) {
        double rest = squared[t];
        for (std::int64_t k = 0; k < all.cols; ++k) rest -= all(t, k) * all(t, k);
        out.left_out.push_back(std::max(0.0, rest));
      }
    }
  }
  if (params.cells > 0.0) out.weight = params.cells;
  if (const auto end = out.unit.find(" * sqrt(cells)"); end != std::string::npos)
    out.unit.resize(end);  // errors are per cell
  return out;
}

}  // namespace

void write_matrix(io::Group& group, const std::string& name, const Matrix& a) {
  group.write(name, io::tensor_of(a.a.data(), {a.rows, a.cols}));
}

Matrix read_matrix(const io::Group& group, const std::string& name) {
  const auto shape = group.dataset(name).shape();
  Matrix out(shape.at(0), shape.at(1));
  out.a = group.read<std::vector<double>>(name);
  return out;
}

double Series::spacing() const {
  std::vector<double> steps;
  for (const auto* part : {&train.days, &test.days})
    for (std::size_t k = 1; k < part->size(); ++k) steps.push_back((*part)[k] - (*part)[k - 1]);
  if (steps.empty()) return 0.0;
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  return steps[steps.size() / 2];
}

Stretch Series::last(std::int64_t n) const {
  Stretch out{Matrix(n, modes()), {}};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t t = train.times() + test.times() - n + i;
    const Stretch& part = t < train.times() ? train : test;
    const std::int64_t row = t < train.times() ? t : t - train.times();
    std::copy_n(part.a.row(row), modes(), out.a.row(i));
    out.days.push_back(part.days[static_cast<std::size_t>(row)]);
  }
  return out;
}

double Series::sample_days() const {
  const auto days = last(train.times() + test.times()).days;
  if (const auto steps = CalendarSteps::of(days, time_unit))
    return steps->months() * io::cf::days_per_year(time_unit.calendar) / 12.0;
  const double usual = spacing();
  double sum = 0.0, count = 0.0, furthest = 0.0;
  for (std::size_t k = 1; k < days.size(); ++k) {
    const double step = days[k] - days[k - 1];
    if (step > gap * usual) continue;
    sum += step;
    count += 1.0;
    furthest = std::max(furthest, std::abs(step - usual));
  }
  return furthest > 1e-6 * usual ? sum / count : usual;
}

std::vector<double> Series::next_days(std::int64_t n) const {
  const auto days = last(std::min<std::int64_t>(13, train.times() + test.times())).days;
  const auto steps = CalendarSteps::of(days, time_unit);
  std::vector<double> out;
  for (std::int64_t k = 1; k <= n; ++k)
    out.push_back(steps ? steps->after(k) : days.back() + static_cast<double>(k) * spacing());
  return out;
}

std::string coarse_times(const Series& series, double period) {
  const double sample = series.sample_days();
  if (!(period < 2.0 * sample * (1.0 - 1e-9))) return {};
  return fmt::format(
      "the series has a time every {} days, so harmonics of {} days, the calendar's year, are not resolved; give the "
      "length of a cycle (period: '12 samples'), or take no harmonics from the table",
      number_text(sample), number_text(period));
}

namespace {

/// Steps of a stretch of two times or more.
struct Steps {
  std::size_t least = 0, most = 0;  ///< the shortest and the longest, by the time before it
  double usual = 0.0;               ///< median
  explicit Steps(const std::vector<double>& days) {
    std::vector<double> steps;
    for (std::size_t k = 1; k < days.size(); ++k) steps.push_back(days[k] - days[k - 1]);
    const auto [low, high] = std::minmax_element(steps.begin(), steps.end());
    least = static_cast<std::size_t>(low - steps.begin());
    most = static_cast<std::size_t>(high - steps.begin());
    std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
    usual = steps[steps.size() / 2];
  }
};

std::string uneven_steps(const std::vector<double>& days) {
  const Steps steps(days);
  const auto length = [&](std::size_t k) { return days[k + 1] - days[k]; };
  const auto apart = [&](std::size_t k) {
    return fmt::format("{} days separate days {} and {} of the series, {} as a rule", number_text(length(k)),
                       number_text(days[k]), number_text(days[k + 1]), number_text(steps.usual));
  };
  if (length(steps.most) > gap * steps.usual)
    return apart(steps.most) +
           ": windows count times and reach across such gaps; fill the gaps, or forecast stretches without gaps";
  if (gap * length(steps.least) < steps.usual)
    return apart(steps.least) +
           ": windows count times, so leads are shorter there; interpolate the series to equal steps (cdo inttime)";
  return {};
}

}  // namespace

std::string uneven_times(const Series& series) {
  const auto &train = series.train.days, &test = series.test.days;
  for (const auto* days : {&train, &test})
    if (days->size() > 1)
      if (auto words = uneven_steps(*days); !words.empty()) return words;
  if (train.size() < 2 || test.size() < 2) return {};
  const double first = Steps(train).usual, second = Steps(test).usual;
  if (std::max(first, second) < gap * std::min(first, second)) return {};
  return fmt::format(
      "the training years have a time every {} days, the test years every {}: windows count times, so that the test "
      "years do not test what was fitted; interpolate the series to equal steps (cdo inttime)",
      number_text(first), number_text(second));
}

Series read_series(const SeriesParams& params, const Comm& comm) {
  Series out;
  io::on_every_rank(comm, [&] { out = read(params); });
  return out;
}

}  // namespace cambium::podlstm
