// The descriptor se_e3 in training: D_m = sum over pairs (j, k) of an atom's neighbours of s G_m(s) / (sel_j sel_k), s
// the product of their normalised directions. G is interpolated (EmbeddingTable), and the angles of an atom within one
// interval enter by their moments, sums of s t^j, so that the work on channels does not grow with their number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/environment.hpp"
#include "plugins/deepmd/training/embedding_table.hpp"
#include "plugins/deepmd/training/run_kernels.hpp"
#include "plugins/deepmd/training/trained_descriptor.hpp"

namespace cambium::deepmd {

namespace {

constexpr int angle_terms = Hermite::terms;
constexpr int most_angle_cells = 65536;  // on either side of 0; s gets there only if two atoms nearly coincide
constexpr double least_tolerance = 1e-12;

template <class T>
class AngleDescriptor : public TrainedDescriptor<T> {
 public:
  AngleDescriptor(const DeepPotentialModel& shape, double interpolation);
  int size() const override { return channels_; }
  int networks() const override { return static_cast<int>(tables_.size()); }

  void embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) override;
  void value(int atom, T* d) override { sum_runs(atom, moments_, d); }
  void take_gradient(int atom, const T* d_gradient) override { std::copy_n(d_gradient, channels_, p_.row(atom)); }
  void add_forces(const Batch& batch, ForceSums& sums) override;
  void take_changes(const Batch& batch, const LossAdjoint& adjoint) override;
  void change(const Batch& batch, int atom, T* d_dot) override;
  void take_adjoints(int atom, const T* d_bar, const T*) override { std::copy_n(d_bar, channels_, bar_.row(atom)); }
  void backward(const Batch& batch, const NetworkWeights<T>& net, int index) override;

 private:
  using Terms = runs::Terms<T>;
  using Vector = std::array<double, 3>;

  /// Index of the network for neighbour types a <= b, without empty ones of the model's list.
  static int network_of(int a, int b) { return b * (b + 1) / 2 + a; }
  template <class F>
  void each_angle(const Batch& batch, int atom, F&& f) const;
  void find_directions(const Batch& batch);
  void find_products(const Batch& batch);
  std::vector<std::vector<int>> cells_of(const Batch& batch) const;
  void place_angles(const Batch& batch, const std::vector<std::vector<int>>& cells);
  void store_coefficients();
  void sum_runs(int atom, const std::vector<T>& of_runs, T* d);
  Terms slope_of(std::size_t angle, Terms power) const;

  const DeepPotentialModel& shape_;
  CutOff cutoff_;
  double tolerance_;
  int channels_;
  std::vector<EmbeddingTable> tables_;  ///< by network_of()
  std::vector<int> first_interval_;     ///< of every network, and the number of all
  std::vector<T> inverse_half_;         ///< dt/ds of every interval
  Rows<T> coefficients_, adjoints_;     ///< `terms` rows for each interval

  std::vector<Vector> u_, u_dot_, u_bar_;  ///< of every row: normalised direction, its change, dE/du
  std::vector<double> geometry_;           ///< of every row: t, (dt/dr)/r with t = w/r^2
  std::vector<int> near_;                  ///< [neighbour type][atom]: rows within this descriptor's cut-off

  std::vector<std::size_t> first_angle_;  ///< of every atom, and the number of all
  std::vector<double> s_;                 ///< of every angle
  std::vector<T> t_;                      ///< position in its interval, -1 to 1
  std::vector<int> run_;                  ///< angles of one atom and interval
  std::vector<int> first_run_;            ///< of every atom, and the number of all
  std::vector<int> interval_;             ///< of every run
  std::vector<T> moments_, changes_;      ///< `terms` values for each run
  Rows<T> p_, bar_, sum_;                 ///< by atom dE/dD and the adjoint of D; one row as accumulator
};

template <class T>
AngleDescriptor<T>::AngleDescriptor(const DeepPotentialModel& shape, double interpolation)
    : shape_(shape), cutoff_(CutOff::make(shape.rcut_smth, shape.rcut, shape.env_protection, false)),
      tolerance_(std::max(interpolation, least_tolerance)), channels_(shape.width()) {
  for (const Network& net : shape.embedding)
    if (!net.layers.empty()) tables_.emplace_back(widths_of(net));
  for (Rows<T>* rows : {&coefficients_, &adjoints_, &p_, &bar_, &sum_}) *rows = Rows<T>(channels_);
  sum_.reserve(1);
}

/// Calls f(angle, row, row, factor, network) for all pairs of an atom's neighbours; pairs of one type only once, with
/// twice the weight.
template <class T>
template <class F>
void AngleDescriptor<T>::each_angle(const Batch& batch, int atom, F&& f) const {
  std::size_t k = first_angle_[atom];
  for (int b = 0; b < batch.ntypes(); ++b)
    for (int a = 0; a <= b; ++a) {
      const int ra = batch.row_begin(a, atom), na = near_[a * batch.atoms() + atom];
      const int rb = batch.row_begin(b, atom), nb = near_[b * batch.atoms() + atom];
      const double once = 1.0 / (static_cast<double>(shape_.sel[a]) * shape_.sel[b]);
      for (int p = 0; p < na; ++p)
        for (int q = a == b ? p : 0; q < nb; ++q)
          f(k++, ra + p, rb + q, a == b && p != q ? 2.0 * once : once, network_of(a, b));
    }
}

template <class T>
void AngleDescriptor<T>::find_directions(const Batch& batch) {
  const auto n = static_cast<std::size_t>(batch.rows());
  for (auto* rows : {&u_, &u_dot_, &u_bar_}) rows->resize(std::max(rows->size(), n));
  geometry_.resize(std::max(geometry_.size(), 2 * n));
  near_.assign(static_cast<std::size_t>(batch.ntypes()) * static_cast<std::size_t>(batch.atoms()), 0);
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const double angular = 1.0 / shape_.deviation[ti * batch.ntypes() + tj][1];
      for (int r = batch.block_begin(tj, ti); r < batch.block_end(tj, ti) - 1; ++r) {
        const double* d = batch.d(r);
        const double distance = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (distance >= shape_.rcut) continue;  // an atom's rows are sorted by distance: all before are counted
        double w, dw;
        cutoff_.weight(distance, w, dw);
        const double inverse = 1.0 / (distance + cutoff_.protection), s = w * inverse, t = s * inverse;
        double* g = &geometry_[2 * static_cast<std::size_t>(r)];
        g[0] = t;
        g[1] = (dw - 2.0 * s) * inverse * inverse / distance;
        for (std::size_t k = 0; k < 3; ++k) u_[r][k] = t * d[k] * angular;
        ++near_[tj * batch.atoms() + batch.centre(r)];
      }
    }
}

template <class T>
void AngleDescriptor<T>::find_products(const Batch& batch) {
  first_angle_.assign(1, 0);
  s_.clear();
  for (int atom = 0; atom < batch.atoms(); ++atom) {
    each_angle(batch, atom, [&](std::size_t, int p, int q, double, int) {
      s_.push_back(u_[p][0] * u_[q][0] + u_[p][1] * u_[q][1] + u_[p][2] * u_[q][2]);
    });
    first_angle_.push_back(s_.size());
  }
  t_.resize(s_.size());
  run_.resize(s_.size());
}

/// Indices of the cells that contain the products, ascending, for every network.
template <class T>
std::vector<std::vector<int>> AngleDescriptor<T>::cells_of(const Batch& batch) const {
  std::vector<std::vector<char>> used(tables_.size());  // from cell 0 on: 0, -1, 1, -2, 2 ...
  for (int atom = 0; atom < batch.atoms(); ++atom)
    each_angle(batch, atom, [&](std::size_t k, int p, int q, double, int net) {
      const double position = std::floor(s_[k] / EmbeddingTable::cell);
      const auto distance = [&](int r) { return std::hypot(batch.d(r)[0], batch.d(r)[1], batch.d(r)[2]); };
      if (!(std::abs(position) < most_angle_cells))
        throw NumericalError(
            fmt::format("a neighbour all but coincides with an atom, at {:.3g} Å: the input of the "
                        "embedding network of their angles is {:g}",
                        std::min(distance(p), distance(q)), s_[k]));
      const int cell = static_cast<int>(position);
      const auto place = static_cast<std::size_t>(cell < 0 ? -2 * cell - 1 : 2 * cell);
      if (used[net].size() <= place) used[net].resize(place + 1, 0);
      used[net][place] = 1;
    });
  std::vector<std::vector<int>> out(tables_.size());
  for (std::size_t net = 0; net < used.size(); ++net) {
    for (std::size_t place = 0; place < used[net].size(); ++place)
      if (used[net][place])
        out[net].push_back(place % 2 ? -static_cast<int>((place + 1) / 2) : static_cast<int>(place / 2));
    std::sort(out[net].begin(), out[net].end());
  }
  return out;
}

/// Assigns the angles to intervals and runs, and sums the runs' moments.
template <class T>
void AngleDescriptor<T>::place_angles(const Batch& batch, const std::vector<std::vector<int>>& cells) {
  std::vector<std::vector<int>> number(cells.size());
  for (std::size_t net = 0; net < cells.size(); ++net) {
    if (cells[net].empty()) continue;
    number[net].assign(cells[net].back() - cells[net].front() + 1, 0);
    for (std::size_t n = 0; n < cells[net].size(); ++n)
      number[net][cells[net][n] - cells[net].front()] = static_cast<int>(n);
  }
  std::vector<int> run_of(inverse_half_.size(), -1);
  first_run_.assign(1, 0);
  interval_.clear();
  moments_.clear();
  for (int atom = 0; atom < batch.atoms(); ++atom) {
    each_angle(batch, atom, [&](std::size_t k, int, int, double factor, int net) {
      const double position = s_[k] / EmbeddingTable::cell, cell = std::floor(position);
      const auto n = static_cast<std::size_t>(number[net][static_cast<int>(cell) - cells[net].front()]);
      const double along = (position - cell) * tables_[net].parts(n);
      const int part = std::min(static_cast<int>(along), tables_[net].parts(n) - 1);
      const int interval = first_interval_[net] + tables_[net].first(n) + part;
      if (run_of[interval] < first_run_.back()) {
        run_of[interval] = static_cast<int>(interval_.size());
        interval_.push_back(interval);
        moments_.resize(moments_.size() + angle_terms, T(0));
      }
      run_[k] = run_of[interval];
      t_[k] = static_cast<T>(2.0 * (along - part) - 1.0);
      T moment = static_cast<T>(factor * s_[k]);
      T* sums = &moments_[static_cast<std::size_t>(run_[k]) * angle_terms];
      for (int j = 0; j < angle_terms; ++j, moment *= t_[k]) sums[j] += moment;
    });
    first_run_.push_back(static_cast<int>(interval_.size()));
  }
}

template <class T>
void AngleDescriptor<T>::store_coefficients() {
  const std::int64_t rows = static_cast<std::int64_t>(inverse_half_.size()) * angle_terms;
  coefficients_.reserve(rows);
  adjoints_.reserve(rows);
  adjoints_.zero(rows);
  std::int64_t row = 0;
  for (const EmbeddingTable& table : tables_)
    for (int k = 0; k < table.intervals(); ++k)
      for (int j = 0; j < angle_terms; ++j, ++row) {
        const double* from = table.coefficients(k) + j * channels_;
        std::transform(from, from + channels_, coefficients_.row(row), [](double v) { return static_cast<T>(v); });
      }
}

template <class T>
void AngleDescriptor<T>::embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) {
  find_directions(batch);
  find_products(batch);
  const auto cells = cells_of(batch);
  first_interval_.assign(1, 0);
  inverse_half_.clear();
  for (std::size_t net = 0; net < tables_.size(); ++net) {
    EmbeddingTable& table = tables_[net];
    table.build(networks[net], cells[net], tolerance_);
    for (std::size_t n = 0; n < cells[net].size(); ++n)
      inverse_half_.insert(inverse_half_.end(), static_cast<std::size_t>(table.parts(n)),
                           static_cast<T>(1.0 / table.half_width(n)));
    first_interval_.push_back(static_cast<int>(inverse_half_.size()));
  }
  store_coefficients();
  place_angles(batch, cells);
  p_.reserve(batch.atoms());
  bar_.reserve(batch.atoms());
}

template <class T>
void AngleDescriptor<T>::sum_runs(int atom, const std::vector<T>& of_runs, T* d) {
  sum_.zero(1);
  for (auto run = static_cast<std::size_t>(first_run_[atom]); run < static_cast<std::size_t>(first_run_[atom + 1]);
       ++run)
    runs::add_sums<T, 1>(&of_runs[run * angle_terms],
                         coefficients_.row(static_cast<std::int64_t>(interval_[run]) * angle_terms),
                         coefficients_.stride(), channels_, sum_.row(0));
  std::copy_n(sum_.row(0), channels_, d);
}

template <class T>
runs::Terms<T> powers_of(T t) {
  alignas(64) T power[angle_terms];
  power[0] = T(1);
  for (int j = 1; j < angle_terms; ++j) power[j] = power[j - 1] * t;
  return runs::Terms<T>::load(power);
}

/// d(s t^j)/ds of an angle.
template <class T>
auto AngleDescriptor<T>::slope_of(std::size_t angle, Terms power) const -> Terms {
  T shifted[angle_terms + 1];  // t^(j - 1)
  shifted[0] = T(0);
  power.store(&shifted[1]);
  const T factor = static_cast<T>(s_[angle]) * inverse_half_[interval_[run_[angle]]];
  return fma(Terms::load(shifted) * runs::exponents<T>(), Terms(factor), power);
}

template <class T>
void AngleDescriptor<T>::add_forces(const Batch& batch, ForceSums& sums) {
  std::vector<T> dots(interval_.size() * angle_terms);
  for (int atom = 0; atom < batch.atoms(); ++atom)
    for (auto run = static_cast<std::size_t>(first_run_[atom]); run < static_cast<std::size_t>(first_run_[atom + 1]);
         ++run)
      runs::products<T, 1>(p_.row(atom), coefficients_.row(static_cast<std::int64_t>(interval_[run]) * angle_terms),
                           coefficients_.stride(), channels_, &dots[run * angle_terms]);
  std::fill_n(u_bar_.begin(), batch.rows(), Vector{0.0, 0.0, 0.0});
  for (int atom = 0; atom < batch.atoms(); ++atom)
    each_angle(batch, atom, [&](std::size_t k, int p, int q, double factor, int) {
      const Terms dot = Terms::load(&dots[static_cast<std::size_t>(run_[k]) * angle_terms]);
      const double along = factor * static_cast<double>(runs::total_of(dot * slope_of(k, powers_of(t_[k]))));
      for (std::size_t c = 0; c < 3; ++c) {
        const double of_q = along * u_[p][c];
        u_bar_[p][c] += along * u_[q][c];
        u_bar_[q][c] += of_q;
      }
    });
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const double angular = 1.0 / shape_.deviation[ti * batch.ntypes() + tj][1];
      for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i)
        for (int r = batch.row_begin(tj, i), end = r + near_[tj * batch.atoms() + i]; r < end; ++r) {
          const double *d = batch.d(r), *g = &geometry_[2 * static_cast<std::size_t>(r)];
          const Vector& b = u_bar_[r];
          const double along = (b[0] * d[0] + b[1] * d[1] + b[2] * d[2]) * g[1];
          double gradient[3];
          for (std::size_t k = 0; k < 3; ++k) gradient[k] = (along * d[k] + g[0] * b[k]) * angular;
          sums.add(batch, r, gradient);
        }
    }
}

template <class T>
void AngleDescriptor<T>::take_changes(const Batch& batch, const LossAdjoint& adjoint) {
  changes_.assign(moments_.size(), T(0));
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const double angular = 1.0 / shape_.deviation[ti * batch.ntypes() + tj][1];
      for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i)
        for (int r = batch.row_begin(tj, i), end = r + near_[tj * batch.atoms() + i]; r < end; ++r) {
          const double *d = batch.d(r), *g = &geometry_[2 * static_cast<std::size_t>(r)];
          const auto move = move_of(batch, adjoint, r);
          const double along = (move[0] * d[0] + move[1] * d[1] + move[2] * d[2]) * g[1];
          for (std::size_t k = 0; k < 3; ++k) u_dot_[r][k] = (along * d[k] + g[0] * move[k]) * angular;
        }
    }
}

template <class T>
void AngleDescriptor<T>::change(const Batch& batch, int atom, T* d_dot) {
  each_angle(batch, atom, [&](std::size_t k, int p, int q, double factor, int) {
    double s_dot = 0.0;
    for (std::size_t c = 0; c < 3; ++c) s_dot += u_dot_[p][c] * u_[q][c] + u_[p][c] * u_dot_[q][c];
    T* sums = &changes_[static_cast<std::size_t>(run_[k]) * angle_terms];
    fma(slope_of(k, powers_of(t_[k])), Terms(static_cast<T>(factor * s_dot)), Terms::load(sums)).store(sums);
  });
  sum_runs(atom, changes_, d_dot);
}

template <class T>
void AngleDescriptor<T>::backward(const Batch& batch, const NetworkWeights<T>& net, int index) {
  const auto n = static_cast<std::size_t>(index);
  const int begin = first_interval_[n], end = first_interval_[n + 1];
  for (int atom = 0; atom < batch.atoms(); ++atom)
    for (auto run = static_cast<std::size_t>(first_run_[atom]); run < static_cast<std::size_t>(first_run_[atom + 1]);
         ++run)
      if (interval_[run] >= begin && interval_[run] < end)
        runs::add_adjoints<T, 1>(&moments_[run * angle_terms], &changes_[run * angle_terms], bar_.row(atom),
                                 p_.row(atom), adjoints_.stride(), channels_,
                                 adjoints_.row(static_cast<std::int64_t>(interval_[run]) * angle_terms));
  std::vector<double> adjoint;
  for (int row = begin * angle_terms; row < end * angle_terms; ++row)
    adjoint.insert(adjoint.end(), adjoints_.row(row), adjoints_.row(row) + channels_);
  tables_[n].backward<T>(adjoint, net);
}

}  // namespace

template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_angle_descriptor(const DeepPotentialModel& shape, double interpolation) {
  return std::make_unique<AngleDescriptor<T>>(shape, interpolation);
}

template std::unique_ptr<TrainedDescriptor<double>> make_angle_descriptor(const DeepPotentialModel&, double);
template std::unique_ptr<TrainedDescriptor<float>> make_angle_descriptor(const DeepPotentialModel&, double);

}  // namespace cambium::deepmd
