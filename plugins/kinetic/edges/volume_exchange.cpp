#include "plugins/kinetic/edges/volume_exchange.hpp"

#include <cmath>

namespace cambium::kinetic {

/// f[out] -= c rate f[in], by packs.
template <class T>
struct LoseInPack {
  Packs<T> from, to;
  View<double*> rate;  ///< [block][lane]
  double c;

  CAMBIUM_FN void operator()(std::int64_t i) const {
    constexpr int W = Packs<T>::width;
    const Layout& layout = to.layout;
    const int block = static_cast<int>(i / layout.velocity_cells), iv = static_cast<int>(i % layout.velocity_cells);
    const T* in = from.pack(block, iv);
    T* out = to.pack(block, iv);
    for (int k = 0; k < layout.modes; ++k)
      for (int l = 0; l < W; ++l)
        out[k * W + l] = static_cast<T>(static_cast<double>(out[k * W + l]) -
                                        c * rate(std::int64_t{block} * W + l) * static_cast<double>(in[k * W + l]));
  }
};

/// f[out] += c n M, by velocity cells of each cell of configuration space.
template <class T>
struct MakeInCell {
  Packs<T> to;
  View<double*> density, maxwellian;
  View<int*> conf_mode;
  double c;
  int conf;

  CAMBIUM_FN void operator()(std::int64_t i) const {
    const Layout& layout = to.layout;
    const int cell = static_cast<int>(i / layout.velocity_cells), iv = static_cast<int>(i % layout.velocity_cells);
    const InBlocks at(layout, cell);
    T* f = to.pack(at.block, iv) + at.lane;
    for (int k = 0; k < layout.modes; ++k)
      f[k * Packs<T>::width] = static_cast<T>(static_cast<double>(f[k * Packs<T>::width]) +
                                              c * density(std::int64_t{cell} * conf + conf_mode(k)) *
                                                  maxwellian(std::int64_t{iv} * layout.modes + k));
  }
};

Flow VolumeExchange::totals(const std::vector<double>& moments) const {
  const ConfGrid& conf = species_.conf();
  const int n = conf.modes(), components = species_.components();
  double unit = 1.0;
  for (int d = 0; d < conf.dimensions; ++d) unit *= std::sqrt(2.0) * 0.5 * conf.width[d];
  Flow out(components, 0.0);
  for (int cell = 0; cell < conf.count(); ++cell)
    for (int c = 0; c < components; ++c)
      out[c] += unit * moments[(static_cast<std::size_t>(cell) * components + c) * n];
  return out;
}

void VolumeExchange::take_source() {
  Solver& solver = species_.solver();
  const auto at = solver.storage(1);
  const std::size_t bytes = static_cast<std::size_t>(at.layout.size()) *
                            (at.precision == Precision::float64 ? sizeof(double) : sizeof(float));
  source_ = View<char*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: source"), bytes);
  Kokkos::deep_copy(source_, Kokkos::View<const char*, MemSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                                 static_cast<const char*>(at.data), bytes));
  source_moments_.assign(species_.conf().size() * species_.components(), 0.0);
  solver.moments(1, source_moments_);
  source_flow_ = totals(source_moments_);
}

template <class T>
void VolumeExchange::add_source_on(int out, double c) {
  const auto to = packs_of<T>(species_.solver(), out);
  T* const f = to.f;
  const T* const source = reinterpret_cast<const T*>(source_.data());
  Kokkos::parallel_for(
      "kinetic: source", PackRange(0, to.layout.size()), KOKKOS_LAMBDA(std::int64_t i) {
        f[i] = static_cast<T>(static_cast<double>(f[i]) + c * static_cast<double>(source[i]));
      });
}

Flow VolumeExchange::add_source(int out, double c, std::vector<double>& fresh) {
  in_precision(species_.solver(), [&](auto number) { add_source_on<decltype(number)>(out, c); });
  for (std::size_t k = 0; k < fresh.size(); ++k) fresh[k] += c * source_moments_[k];
  return source_flow_;
}

template <class T>
void VolumeExchange::lose_on(int in, int out, double c, const std::vector<double>& rate) {
  const auto to = packs_of<T>(species_.solver(), out);
  std::vector<double> lanes(static_cast<std::size_t>(to.layout.blocks()) * Packs<T>::width, 0.0);
  for (std::size_t k = 0; k < rate.size(); ++k) {
    const InBlocks at(to.layout, static_cast<int>(k));
    lanes[static_cast<std::size_t>(at.block) * Packs<T>::width + at.lane] = rate[k];
  }
  Kokkos::parallel_for("kinetic: loss", PackRange(0, std::int64_t{to.layout.blocks()} * to.layout.velocity_cells),
                       LoseInPack<T>{packs_of<T>(species_.solver(), in), to, on_device("kinetic: rates", lanes), c});
}

Flow VolumeExchange::lose(int in, int out, double c, const std::vector<double>& rate, std::vector<double>& fresh) {
  in_precision(species_.solver(), [&](auto number) { lose_on<decltype(number)>(in, out, c, rate); });
  Flow flow(species_.components(), 0.0);
  if (species_.ranks().column().rank() != 0) return flow;  // moments are already summed over all ranks of a column
  std::vector<double> lost = species_.moments(in);
  const std::size_t row = lost.size() / rate.size();
  for (std::size_t k = 0; k < lost.size(); ++k) {
    lost[k] *= rate[k / row];
    fresh[k] -= c * lost[k];
  }
  return totals(lost);
}

template <class T>
void VolumeExchange::make_on(int out, double c, const std::vector<double>& n) {
  const auto to = packs_of<T>(species_.solver(), out);
  Kokkos::parallel_for("kinetic: new pairs",
                       PackRange(0, std::int64_t{species_.conf().count()} * to.layout.velocity_cells),
                       MakeInCell<T>{to, on_device("kinetic: density of new pairs", n), maxwellian_, conf_mode_, c,
                                     species_.conf().modes()});
}

Flow VolumeExchange::make(int out, double c, const std::vector<double>& n, double temperature,
                          std::vector<double>& fresh) {
  const int modes = tables_.modes(), conf = species_.conf().modes(), components = species_.components();
  if (temperature != temperature_) {
    temperature_ = temperature;
    const auto values = tables_.maxwellian(std::sqrt(temperature / species_.mass()),
                                           [&](double x) { return species_.ranks().column().sum(x); }),
               weights = tables_.moment_weights();
    maxwellian_ = on_device("kinetic: Maxwellian", values);
    conf_mode_ = on_device("kinetic: modes of configuration space", tables_.conf_mode());
    of_mode_.assign(static_cast<std::size_t>(components) * conf, 0.0);
    for (std::size_t iv = 0; iv < values.size() / modes; ++iv)
      for (int c1 = 0; c1 < components; ++c1)
        for (int k = 0; k < modes; ++k)
          of_mode_[static_cast<std::size_t>(c1) * conf + tables_.conf_mode()[k]] +=
              values[iv * modes + k] * weights[(iv * components + c1) * modes + k];
  }
  in_precision(species_.solver(), [&](auto number) { make_on<decltype(number)>(out, c, n); });
  std::vector<double> made(fresh.size());
  const std::size_t row = of_mode_.size();
  for (std::size_t k = 0; k < made.size(); ++k) {
    made[k] = n[k / row * conf + k % conf] * of_mode_[k % row];
    fresh[k] += c * made[k];
  }
  return totals(made);
}

}  // namespace cambium::kinetic
