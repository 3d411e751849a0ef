#include "plugins/md/writers/rdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/md/writers/pair_histogram.hpp"

namespace cambium::md {

namespace {

constexpr double default_range = 10.0;  // Å

/// g(r) and n(r) of one average, [pair][bin].
struct Distribution {
  std::vector<double> g, coordination;
};

Distribution normalised(const double* pairs, const double* weighted, double samples, const std::vector<double>& members,
                        int bins, double width) {
  const int species = static_cast<int>(members.size());
  Distribution d;
  for (int a = 0; a < species; ++a)
    for (int b = a; b < species; ++b) {
      const double ordered = samples * (a == b ? members[a] * (members[a] - 1.0) : 2.0 * members[a] * members[b]);
      const double centres = samples * members[a] * (a == b ? 1.0 : 2.0);
      double neighbours = 0.0;
      for (int k = 0; k < bins; ++k) {
        const double inner = k * width, outer = inner + width;
        const double shell = 4.0 / 3.0 * constants::pi * (outer * outer * outer - inner * inner * inner);
        d.g.push_back(ordered > 0.0 ? *weighted / (ordered * shell) : 0.0);
        neighbours += centres > 0.0 ? *pairs / centres : 0.0;
        d.coordination.push_back(neighbours);
        ++pairs, ++weighted;
      }
    }
  return d;
}

std::vector<std::string> pair_names(const std::vector<std::string>& symbols) {
  std::vector<std::string> names;
  for (std::size_t a = 0; a < symbols.size(); ++a)
    for (std::size_t b = a; b < symbols.size(); ++b) names.push_back(fmt::format("{}-{}", symbols[a], symbols[b]));
  return names;
}

}  // namespace

void Rdf::settle_range(const Box& box) {
  const auto widths = box.heights();
  const double half = 0.5 * *std::min_element(widths.begin(), widths.end());
  if (r_max_ == 0.0) {
    r_max_ = params_.r_max.value_or(std::min(default_range, 0.95 * half));
    if (r_max_ > half)
      throw KeyError(
          "rdf.r_max.range", "r_max",
          fmt::format("rdf: r_max = {} Å is more than half the smallest width of the cell ({:.4g} Å): choose at most "
                      "{:.4g} Å or a larger cell",
                      r_max_, 2.0 * half, half));
  } else if (r_max_ > half) {
    context_.log.warn("rdf: the cell has shrunk below twice r_max; g(r) at large distances counts periodic images");
  }
}

std::vector<std::int64_t> Rdf::count(const Particles& now) {
  const int n = now.nlocal;
  particles_.box = now.box;
  particles_.species = now.species;
  particles_.nglobal = now.nglobal;
  particles_.nlocal = 0;  // no data to keep
  particles_.nghost = 0;
  particles_.reserve(n);
  particles_.nlocal = n;
  const auto rows = std::pair<int, int>(0, n);
  Kokkos::deep_copy(Kokkos::subview(particles_.x, rows, Kokkos::ALL()), Kokkos::subview(now.x, rows, Kokkos::ALL()));
  Kokkos::deep_copy(Kokkos::subview(particles_.tag, rows), Kokkos::subview(now.tag, rows));
  if (!domain_) domain_ = std::make_unique<Domain>(context_.comm, now.box, std::nullopt, r_max_);
  domain_->migrate(particles_);
  domain_->borders(particles_, r_max_);
  build_neighbors(particles_, r_max_, 0.0, list_);
  return count_pairs(particles_, list_, r_max_, params_.bins, context_.comm);
}

std::int64_t Rdf::histogram_size() const {
  return std::int64_t{species_pairs(static_cast<int>(symbols_.size()))} * params_.bins;
}

void Rdf::begin_average(std::int64_t step) {
  sums_.first_step.push_back(static_cast<double>(step));
  sums_.last_step.push_back(static_cast<double>(step));
  sums_.samples.push_back(0.0);
  sums_.pairs.resize(sums_.pairs.size() + histogram_size(), 0.0);
  sums_.weighted.resize(sums_.pairs.size(), 0.0);
}

/// The default range for the current cell; that of the first sample is set when it is taken.
void Rdf::examine(Check& check) {
  if (!check.first_state()) return;
  settle_range(check.first_state()->particles.box);
  r_max_ = 0.0;
}

void Rdf::observe(const State& state, std::int64_t step, double) {
  if (step < params_.from) return;
  const Particles& p = state.particles;
  if (!symbols_.empty() && symbols_.size() != p.species.size())
    throw InputError(
        fmt::format("rdf: {} species were counted before, but there are {} now: resume with the deck that wrote it",
                    symbols_.size(), p.species.size()));
  settle_range(p.box);
  const auto counts = count(p);
  if (symbols_.empty()) {
    for (const auto& species : p.species) symbols_.push_back(species.symbol);
    members_.assign(symbols_.size(), 0.0);
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
    for (int i = 0; i < p.nlocal; ++i) members_[x(i, 3)] += 1.0;
    context_.comm.sum(std::span<double>(members_));
  }
  const bool full = params_.average > 0 && !sums_.samples.empty() &&
                    static_cast<double>(step) - sums_.first_step.back() >= static_cast<double>(params_.average);
  if (full) io::on_root(context_.comm, [&] { write(); });
  if (full || sums_.samples.empty()) begin_average(step);
  sums_.last_step.back() = static_cast<double>(step);
  sums_.samples.back() += 1.0;
  const std::size_t first = sums_.pairs.size() - counts.size();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    sums_.pairs[first + k] += static_cast<double>(counts[k]);
    sums_.weighted[first + k] += static_cast<double>(counts[k]) * p.box.volume();
  }
}

void Rdf::finish(const State&) {
  io::on_root(context_.comm, [&] {
    if (!sums_.samples.empty()) write();
  });
}

void Rdf::write() const {
  const int bins = params_.bins;
  const double width = r_max_ / bins;
  const std::int64_t averages = std::ssize(sums_.samples), size = histogram_size(), pairs = size / bins;
  std::vector<double> r(bins), g, coordination;
  for (int k = 0; k < bins; ++k) r[k] = (k + 0.5) * width;
  for (std::int64_t w = 0; w < averages; ++w) {
    const auto one =
        normalised(&sums_.pairs[w * size], &sums_.weighted[w * size], sums_.samples[w], members_, bins, width);
    g.insert(g.end(), one.g.begin(), one.g.end());
    coordination.insert(coordination.end(), one.coordination.begin(), one.coordination.end());
  }
  const auto names = pair_names(symbols_);
  const std::filesystem::path folder = context_.run_directory;
  io::write_h5_atomically((folder / "rdf.h5").string(), [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context_));
    io::Group group = file.create_group("/rdf");
    auto add = [&](io::Dataset set, const char* unit, const char* name, const std::vector<std::string>& along) {
      io::labelled(set, unit, name);
      const std::string path = set.path();
      if (!along.empty()) group.attach_scales(path, along);
      io::show_at_top(file, path, path.substr(path.rfind('/') + 1));
    };
    std::vector<std::int64_t> numbers(averages);
    std::iota(numbers.begin(), numbers.end(), 1);
    add(group.write("pair", names), "", "species of the two particles", {});
    add(group.write("average", numbers), "", "index of the average, from 1", {});
    add(group.write("r", r), "angstrom", "distance, the middle of each bin", {});
    add(group.write("g", io::tensor_of(g.data(), {averages, pairs, bins})), "", "radial distribution function",
        {"average", "pair", "r"});
    add(group.write("coordination", io::tensor_of(coordination.data(), {averages, pairs, bins})), "",
        "particles of the second species within the outer edge of the bin of one of the first",
        {"average", "pair", "r"});
    add(group.write("first_step", sums_.first_step), "", "first sampled step of each average", {"average"});
    add(group.write("last_step", sums_.last_step), "", "last sampled step of each average", {"average"});
    add(group.write("samples", sums_.samples), "", "samples in each average", {"average"});
    io::follow_cf(file);
  });
  std::vector<io::Column> columns{{"r", "angstrom", ""}};
  std::vector<std::vector<double>> values{r};
  for (const auto* quantity : {&g, &coordination})
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      columns.push_back({fmt::format("{} {}", quantity == &g ? "g" : "n", names[pair]), "", ""});
      const auto begin = quantity->end() - size + pair * bins;
      values.emplace_back(begin, begin + bins);
    }
  io::write_csv((folder / "rdf.csv").string(), columns, values);
}

void Rdf::save(io::Group& group) const {
  group.write("r_max", r_max_);
  group.write("bins", params_.bins);
  group.write("species", symbols_);
  group.write("members", members_);
  group.write("first_step", sums_.first_step);
  group.write("last_step", sums_.last_step);
  group.write("samples", sums_.samples);
  group.write("pairs", sums_.pairs);
  group.write("weighted", sums_.weighted);
}

void Rdf::load(const io::Group& group) {
  const int bins = group.read<int>("bins");
  if (bins != params_.bins)
    throw InputError(
        fmt::format("rdf: the checkpoint has {} bins but this deck has {}: resume with the deck that wrote it", bins,
                    params_.bins));
  r_max_ = group.read<double>("r_max");
  symbols_ = group.read<std::vector<std::string>>("species");
  members_ = group.read<std::vector<double>>("members");
  sums_.first_step = group.read<std::vector<double>>("first_step");
  sums_.last_step = group.read<std::vector<double>>("last_step");
  sums_.samples = group.read<std::vector<double>>("samples");
  sums_.pairs = group.read<std::vector<double>>("pairs");
  sums_.weighted = group.read<std::vector<double>>("weighted");
  const std::size_t averages = sums_.samples.size(), numbers = averages * static_cast<std::size_t>(histogram_size());
  if (!(r_max_ >= 0.0) || members_.size() != symbols_.size() || sums_.first_step.size() != averages ||
      sums_.last_step.size() != averages || sums_.pairs.size() != numbers || sums_.weighted.size() != numbers)
    throw InputError(
        fmt::format("'{}' in '{}' does not hold together: {} species, {} averages and {} counts of pairs in {} bins; "
                    "the file is damaged or was changed, resume from another one",
                    group.path(), group.file(), symbols_.size(), averages, sums_.pairs.size(), bins));
}

}  // namespace cambium::md
