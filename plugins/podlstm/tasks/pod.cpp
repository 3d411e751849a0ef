#include "plugins/podlstm/tasks/pod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/check.hpp"
#include "plugins/podlstm/networks/citations.hpp"
#include "plugins/podlstm/pod/pod_file.hpp"

namespace cambium::podlstm {

void PodTask::Params::describe(deck::Describe<Params>& d) {
  d("field", &Params::field, "the field over time");
  d("modes", &Params::modes, "number of POD modes").at_least(1).def(5);
  d("training", &Params::training,
    "number of training snapshots, from the first on, for the mean and modes; the others are projected; default: all")
      .at_least(2);
  d("weights", &Params::weights, "weight of a cell in sums over space")
      .options({{"none", AreaWeights::none}, {"cos_latitude", AreaWeights::cos_latitude}})
      .def(AreaWeights::none);
  d("anomalies", &Params::anomalies,
    "climatology, trend and scale that are removed from each cell before the modes are computed");
  d("method", &Params::method,
    "algorithm of the modes: Gram matrix of all snapshots, or randomized subspace iteration, which needs no such "
    "matrix")
      .options({{"snapshots", PodMethod::snapshots}, {"randomized", PodMethod::randomized}})
      .def(PodMethod::snapshots);
  d("oversampling", &Params::oversampling, "columns of the random subspace beyond `modes`").at_least(0).def(10);
  d("passes", &Params::passes, "maximum number of passes of the randomized method over the data").at_least(1).def(40);
  d("tolerance", &Params::tolerance, "relative residual at which the randomized method ends").positive().def(1e-11);
  d("buffer", &Params::buffer,
    "memory for snapshots on each rank (MiB); a field that does not fit is read in blocks of cells, once per pass")
      .positive()
      .def(256.0);
}

void PodTask::examine(Check& check) {
  const Origin stage{Origin::stage, "pod"};
  check.will_write({"pod.h5", stage, {"coefficients", "time", "modes"}});
  if (!check.stage().tried) return;
  check.context().log.info(
      fmt::format("pod: {} modes of '{}' from {} file(s), {} method, blocks of up to {:g} MiB per rank", params_.modes,
                  params_.field.array, params_.field.files.size(),
                  params_.method == PodMethod::snapshots ? "snapshot" : "randomized", params_.buffer));
  const auto& field = params_.field;
  for (const auto& path : field.files) {
    const auto promise = check.written_before(path);
    if (promise && !promise->holds.empty() &&
        std::find(promise->holds.begin(), promise->holds.end(), field.array) == promise->holds.end())
      throw KeyError(
          "pod.field.promised", "field.array",
          fmt::format("'{}' will have no array '{}'{}", path, field.array, suggestion(field.array, promise->holds)));
  }
  if (const auto path = check.waits(check.stage().keys))
    return check.not_looked_at(fmt::format("the field: '{}' is still to be written", *path));
  auto made = deck::about_key("field.files", "field", "", [&] {
    return std::make_unique<Field>(field, params_.weights, params_.training, params_.buffer * 1048576.0,
                                   check.context());
  });
  Field& opened = *made;
  deck::about_key("pod.anomalies", "anomalies", [&] { opened.take_off(params_.anomalies); });
  require_snapshots(params_.modes, opened);
  const auto ranks = check.context().comm.size();
  const auto share =
      static_cast<double>(opened.snapshots()) * static_cast<double>((opened.cells() + ranks - 1) / ranks);
  check.memory("snapshots, at most", std::min(params_.buffer * 1048576.0, 8.0 * share));
  constexpr double most = 512.0 * 1048576.0;  // a second or two
  if (!opened.look_through(most))
    check.not_looked_at(fmt::format("missing values of '{}' after the first snapshot: more than {:g} MiB on a rank",
                                    field.array, most / 1048576.0));
}

void PodTask::report(const Field& field, const Basis& basis, double seconds, Context& context) const {
  const Comm& comm = context.comm;
  const double read = static_cast<double>(comm.sum(field.bytes_read()));
  const double block = comm.max(static_cast<double>(field.largest_block()));
  const bool plain = field.first_file().unit().empty() || params_.anomalies.standardise;
  const std::string unit = plain ? "1" : field.first_file().unit();
  auto& log = context.log;
  log.info(fmt::format("pod (EOFs) of {}: {} training and {} projected snapshots, {} of {} cells ({} left out)",
                       field.array(), field.training(), field.snapshots() - field.training(), basis.cells,
                       field.cells(), field.cells() - basis.cells));
  log.info("  mode        energy  explained % cumulative %  North +- %");
  double together = 0.0;
  const auto error = basis.sampling_errors(field.training());
  std::string mixed;
  for (std::size_t k = 0; k < basis.energy.size(); ++k) {
    const double share = 100.0 * basis.energy[k] / basis.total_energy;
    together += share;
    log.info(
        fmt::format("{:6}{:15.6e}{:10.3f}{:12.3f}{:14.3f}", k + 1, basis.energy[k], share, together, share * error[k]));
    if (k > 0 && basis.energy[k - 1] - basis.energy[k] < basis.energy[k - 1] * error[k - 1])
      mixed += fmt::format("{}{} and {}", mixed.empty() ? "" : ", ", k, k + 1);
  }
  if (!mixed.empty()) log.info("not separated by North's rule of thumb, so their patterns may mix: modes " + mixed);
  log.info(fmt::format("left out by the modes: {:.4g} {} in training{}", basis.truncation(0, field.training()), unit,
                       field.training() < field.snapshots()
                           ? fmt::format(", {:.4g} {} in the projected snapshots",
                                         basis.truncation(field.training(), field.snapshots()), unit)
                           : ""));
  log.info(fmt::format("orthonormal to {:.1e}", basis.orthonormality));
  if (params_.method == PodMethod::randomized)
    log.info(fmt::format("randomized: {} passes, residual {:.1e}", field.passes() - 1, basis.residual));
  if (!basis.converged)
    log.warn(fmt::format(
        "the randomized method stopped after {} passes at a residual of {:.1e} > {:.1e}; raise passes or oversampling",
        params_.passes, basis.residual, params_.tolerance));
  log.info(
      fmt::format("{} passes in {:.2f} s; {:.1f} MiB read, at most {:.2f} MiB of {:g} MiB in memory at once on a rank",
                  field.passes(), seconds, read / 1048576.0, block / 1048576.0, params_.buffer));
}

Task::Outcome PodTask::run(Context& context) {
  const double start = wall_seconds();
  Field field(params_.field, params_.weights, params_.training, params_.buffer * 1048576.0, context);
  if (const auto& unit = field.first_file().time_unit();
      unit.mean_months && unit.calendar != io::cf::Calendar::days_360)
    context.log.warn(fmt::format(
        "times are in '{}': a month is taken as {:.2f} days, a twelfth of the calendar's mean year, as UDUNITS does; "
        "CDO takes calendar months",
        unit.text, io::cf::days_per_year(unit.calendar) / 12.0));
  deck::about_key("pod.anomalies", "anomalies", [&] { field.take_off(params_.anomalies); });
  const BasisOptions options{params_.modes, params_.method, params_.oversampling, params_.passes, params_.tolerance};
  const Basis basis = compute_basis(field, options, context);
  const auto path = (std::filesystem::path(context.run_directory) / "pod.h5").string();
  write_pod_file(path, field, basis, params_.weights == AreaWeights::none ? "none" : "cos_latitude", context);
  report(field, basis, wall_seconds() - start, context);
  work_ = {field.snapshots(), "snapshot"};
  return Outcome::done;
}

std::vector<Citation> PodTask::citations() const { return pod_citations(params_.method == PodMethod::randomized); }

}  // namespace cambium::podlstm
