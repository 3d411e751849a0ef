#include "plugins/deepmd/model/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/embedding_rows.hpp"
#include "plugins/deepmd/model/environment.hpp"

namespace cambium::deepmd {

namespace {

CutOff cutoff_of(const DeepPotentialModel& m) { return CutOff::make(m.rcut_smth, m.rcut, m.env_protection, false); }

/// The switch s = w / (r + protection), which decreases with r.
double switch_at(const DeepPotentialModel& m, double r) {
  double w, dw;
  cutoff_of(m).weight(r, w, dw);
  return w / (r + m.env_protection);
}

/// Range of inputs of a network: r = rcut to r = r_min, over all centre types that use it.
struct Span {
  double lower = 1e300, upper = -1e300;
};

/// Largest input of the network of (centre, neighbour) with the neighbour at r; se_e3: of (neighbour, neighbour), both
/// at r in one direction from any centre.
double input_at(const DeepPotentialModel& m, int one, int other, double r) {
  const int nt = m.ntypes();
  const double s = switch_at(m, r);
  if (m.descriptor != DeepPotentialModel::Descriptor::se_e3) {
    const auto pair = static_cast<std::size_t>(one * nt + other);
    return (s - m.mean[pair][0]) / m.deviation[pair][0];
  }
  const double length = s * r / (r + m.env_protection);
  double largest = 0.0;
  for (int centre = 0; centre < nt; ++centre)
    largest = std::max(largest, length * length /
                                    (m.deviation[static_cast<std::size_t>(centre * nt + one)][1] *
                                     m.deviation[static_cast<std::size_t>(centre * nt + other)][1]));
  return largest;
}

std::vector<Span> input_spans(const DeepPotentialModel& m, double r_min) {
  const bool angles = m.descriptor == DeepPotentialModel::Descriptor::se_e3;
  std::vector<Span> spans(m.embedding.size());
  for (int ti = 0; ti < m.ntypes(); ++ti)
    for (int tj = 0; tj < m.ntypes(); ++tj) {
      Span& span = spans[m.embedding_index(ti, tj)];
      const double nearest = input_at(m, ti, tj, r_min);
      span.lower = std::min(span.lower, angles ? -nearest : input_at(m, ti, tj, m.rcut));
      span.upper = std::max(span.upper, nearest);
    }
  return spans;
}

/// Distance beyond which the fine parts cover every pair.
double covered_from(const DeepPotentialModel& m, const std::vector<NetworkTable>& tables) {
  double r_min = 0.0;
  for (int ti = 0; ti < m.ntypes(); ++ti)
    for (int tj = 0; tj < m.ntypes(); ++tj) {
      const NetworkTable& table = tables[m.embedding_index(ti, tj)];
      if (table.empty()) continue;
      double low = 0.0, high = m.rcut;
      for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        (input_at(m, ti, tj, middle) > table.fine.to() ? low : high) = middle;
      }
      r_min = std::max(r_min, high);
    }
  return r_min;
}

void require_smooth(const DeepPotentialModel& m) {
  for (const Network& net : m.embedding)
    for (const Layer& layer : net.layers)
      if (!layer.activation.smooth())
        throw InputError(
            fmt::format("{}: an embedding with activation '{}' cannot be compressed: its second derivative jumps; "
                        "leave the key compress out",
                        m.source, layer.activation.name()));
}

template <class T, class V>
void store(const TablePart& part, int stride, V& out, std::size_t& next) {
  constexpr int width = lanes<T>, powers = TablePart::coefficients;
  const TablePlaces<T> places(stride);
  for (int k = 0; k < part.count; ++k, next += static_cast<std::size_t>(stride))
    for (int c = 0; c < part.channels; ++c)
      for (int power = 0; power < powers; ++power)
        out(next + static_cast<std::size_t>(c / width * places.between_packs + power * places.between_powers +
                                            c % width)) = static_cast<T>(part.at(k)[c * powers + power]);
}

template <class T>
void upload_coefficients(TableSet<T>& set, const std::vector<TablePart>& parts) {
  std::size_t intervals = 0, next = 0;
  for (const TablePart& part : parts) intervals += static_cast<std::size_t>(part.count);
  set.coefficients = View<T*>("table: coefficients", intervals * static_cast<std::size_t>(set.stride()));
  auto host = Kokkos::create_mirror_view(set.coefficients);
  for (const TablePart& part : parts) store<T>(part, set.stride(), host, next);
  Kokkos::deep_copy(set.coefficients, host);
  set.report.intervals = static_cast<int>(intervals);
  set.report.bytes = set.bytes();
}

template <class T>
void upload_grids(TableSet<T>& set, const DeepPotentialModel& m, const std::vector<TableGrid>& grids) {
  set.grids = View<TableGrid*>("table: grids", grids.size());
  auto host = Kokkos::create_mirror_view(set.grids);
  for (std::size_t k = 0; k < grids.size(); ++k) host(k) = grids[k];
  Kokkos::deep_copy(set.grids, host);
  set.net_of = View<int*>("table: net of pair", static_cast<std::size_t>(m.ntypes() * m.ntypes()));
  auto net_of = Kokkos::create_mirror_view(set.net_of);
  for (int ti = 0; ti < m.ntypes(); ++ti)
    for (int tj = 0; tj < m.ntypes(); ++tj) net_of(ti * m.ntypes() + tj) = m.embedding_index(ti, tj);
  Kokkos::deep_copy(set.net_of, net_of);
}

}  // namespace

std::string TableReport::summary() const {
  return fmt::format(
      "embedding tabulated from {:.2f} Å to the cut-off in {} quintic intervals ({:.1f} MB): largest error {:.1e} of "
      "the channels, {:.1e} of their slopes",
      r_min, intervals, static_cast<double>(bytes) / 1e6, value_error, slope_error);
}

void TableReport::add(const TableReport& other) {
  value_error = std::max(value_error, other.value_error);
  slope_error = std::max(slope_error, other.slope_error);
  r_min = std::max(r_min, other.r_min);
  intervals += other.intervals;
  bytes += other.bytes;
}

std::vector<NetworkTable> tabulate_networks(const DeepPotentialModel& m, double tolerance, double r_min) {
  require_smooth(m);
  if (!(r_min > 0.0 && r_min < m.rcut))
    throw InputError(fmt::format("{}: the table's smallest distance must be between 0 and rcut = {} Å, found {}",
                                 m.source, m.rcut, r_min));
  const std::vector<Span> spans = input_spans(m, r_min);
  std::vector<NetworkTable> out(spans.size());
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const Network& net = m.embedding[k];
    if (net.layers.empty()) continue;
    const double far = spans[k].upper + 4.0 * std::abs(spans[k].upper);
    out[k].fine = tabulate(net, spans[k].lower, spans[k].upper, tolerance, m.source);
    out[k].coarse = tabulate(net, spans[k].upper, far, tolerance, m.source);
  }
  return out;
}

template <class T>
TableSet<T> upload_tables(const DeepPotentialModel& m, std::vector<NetworkTable> tables) {
  TableSet<T> set;
  set.ntypes = m.ntypes();
  set.channels = m.width();
  std::vector<TableGrid> grids;
  std::vector<TablePart> parts;
  TableReport& report = set.report;
  int first = 0;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    TableGrid grid;
    grid.first = first;
    if (!tables[k].empty()) {
      TablePart &fine = tables[k].fine, &coarse = tables[k].coarse;
      measure<T>(m.embedding[k], fine);
      measure<T>(m.embedding[k], coarse);
      grid = {fine.from,          coarse.from, coarse.to(),  1.0 / fine.width,
              1.0 / coarse.width, fine.count,  coarse.count, first};
      report.value_error = std::max({report.value_error, fine.value_error, coarse.value_error});
      report.slope_error = std::max({report.slope_error, fine.slope_error, coarse.slope_error});
      first += grid.intervals();
      parts.insert(parts.end(), {fine, coarse, straight_end(coarse)});
    }
    grids.push_back(grid);
  }
  report.r_min = covered_from(m, tables);
  upload_coefficients(set, parts);
  upload_grids(set, m, grids);
  return set;
}

template TableSet<double> upload_tables(const DeepPotentialModel&, std::vector<NetworkTable>);
template TableSet<float> upload_tables(const DeepPotentialModel&, std::vector<NetworkTable>);

}  // namespace cambium::deepmd
