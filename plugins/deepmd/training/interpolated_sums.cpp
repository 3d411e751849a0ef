#include "plugins/deepmd/training/interpolated_sums.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "plugins/deepmd/training/run_kernels.hpp"

namespace cambium::deepmd {

namespace {
constexpr int terms = Hermite::terms;
constexpr int most_cells = 8192;  // on either side of 0; x gets there only if two atoms nearly coincide
}  // namespace

template <class T>
InterpolatedSums<T>::InterpolatedSums(const DeepPotentialModel& shape, const DescriptorKernels<T>& kernels,
                                      double tolerance)
    : shape_(shape), kernels_(kernels), tolerance_(tolerance) {
  const std::vector<int> widths = widths_of(shape.embedding.front());
  for (std::size_t n = 0; n < shape.embedding.size(); ++n) tables_.emplace_back(widths);
  for (Rows<T>* rows : {&coefficients_, &adjoints_})
    *rows = Rows<T>(kernels.channels, kernels.stride - whole_packs<T>(kernels.channels));
}

template <class T>
auto InterpolatedSums<T>::blocks_of(int network) const -> std::vector<Block> {
  std::vector<Block> out;
  for (int tj = 0; tj < shape_.ntypes(); ++tj)
    for (int ti = 0; ti < shape_.ntypes(); ++ti)
      if (shape_.embedding_index(ti, tj) == network) out.emplace_back(tj, ti);
  return out;
}

/// Indices of the cells that contain a network's inputs, ascending.
template <class T>
std::vector<int> InterpolatedSums<T>::cells_of(const Batch& batch, int network, const PairRows<T>& rows) const {
  std::vector<char> used(2 * most_cells, 0);
  int lowest = most_cells, highest = -most_cells;
  for (const auto& [tj, ti] : blocks_of(network))
    for (int r = batch.block_begin(tj, ti); r < batch.block_end(tj, ti); ++r) {
      const double position = std::floor(static_cast<double>(rows.x[r]) / EmbeddingTable::cell);
      if (!(std::abs(position) < most_cells))
        throw NumericalError(
            fmt::format("two atoms of types {} and {} all but coincide: the input of the embedding network is {:g}",
                        shape_.type_map[ti], shape_.type_map[tj], rows.x[r]));
      const int cell = static_cast<int>(position);
      used[cell + most_cells] = 1;
      lowest = std::min(lowest, cell);
      highest = std::max(highest, cell);
    }
  std::vector<int> out;
  for (int cell = lowest; cell <= highest; ++cell)
    if (used[cell + most_cells]) out.push_back(cell);
  return out;
}

template <class T>
void InterpolatedSums<T>::place_rows(const Batch& batch, int network, std::span<const int> cells,
                                     const PairRows<T>& rows) {
  const EmbeddingTable& table = tables_[network];
  std::vector<int> number(cells.back() - cells.front() + 1, 0);
  for (std::size_t n = 0; n < cells.size(); ++n) number[cells[n] - cells.front()] = static_cast<int>(n);
  const int first = first_interval_[network];
  for (const auto& [tj, ti] : blocks_of(network))
    for (int r = batch.block_begin(tj, ti); r < batch.block_end(tj, ti); ++r) {
      const T position = rows.x[r] * static_cast<T>(1.0 / EmbeddingTable::cell), cell = std::floor(position);
      const auto n = static_cast<std::size_t>(number[static_cast<int>(cell) - cells.front()]);
      const T along = (position - cell) * static_cast<T>(table.parts(n));
      const int part = std::min(static_cast<int>(along), table.parts(n) - 1);
      interval_[r] = first + table.first(n) + part;
      const T t = T(2) * (along - static_cast<T>(part)) - T(1);
      T* power = powers(r);
      power[0] = T(1);
      for (int j = 1; j < terms; ++j) power[j] = power[j - 1] * t;
    }
}

template <class T>
void InterpolatedSums<T>::append_coefficients(const EmbeddingTable& table) {
  const int first = first_interval_.back() * terms;
  for (int k = 0; k < table.intervals(); ++k)
    for (int j = 0; j < terms; ++j) {
      const double* from = table.coefficients(k) + j * kernels_.channels;
      std::transform(from, from + kernels_.channels, coefficients_.row(first + k * terms + j),
                     [](double v) { return static_cast<T>(v); });
    }
}

/// Finds the runs and sums their moments.
template <class T>
void InterpolatedSums<T>::find_runs(const Batch& batch, const PairRows<T>& rows) {
  runs_.clear();
  run_begin_.clear();
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int atom = 0; atom < batch.atoms(); ++atom) {
      run_begin_.push_back(runs_.size());
      const int first = batch.row_begin(tj, atom), end = first + batch.row_count(tj, atom);
      for (int r = first; r < end; ++r) {
        const int here = interval_[r];
        if (r == first || runs_.back().interval != here) runs_.push_back({here, r, 0});
        ++runs_.back().count;
      }
    }
  run_begin_.push_back(runs_.size());
  for (auto* values : {&moments_, &changes_}) values->resize(runs_.size() * 4 * terms);
  using Terms = runs::Terms<T>;
  for (const Run& run : runs_) {
    Terms sum[4] = {T(0), T(0), T(0), T(0)};
    for (int r = run.first; r < run.first + run.count; ++r)
      for (int k = 0; k < 4; ++k) sum[k] = fma(Terms::load(powers(r)), Terms(rows.c_of(r)[k]), sum[k]);
    for (int k = 0; k < 4; ++k) sum[k].store(moment(number(run)) + k * terms);
  }
}

template <class T>
void InterpolatedSums<T>::evaluate(const Batch& batch, std::span<const NetworkWeights<T>> networks,
                                   const PairRows<T>& rows) {
  const auto n = static_cast<std::size_t>(batch.rows());
  if (interval_.size() < n) {
    interval_.resize(n + n / 8);
    powers_.resize(terms * (interval_.size() + 1));
  }
  first_interval_.assign(1, 0);
  inverse_half_.clear();
  std::vector<std::vector<int>> cells;
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    cells.push_back(cells_of(batch, static_cast<int>(k), rows));
    tables_[k].build(networks[k], cells.back(), tolerance_);
    for (std::size_t c = 0; c < cells.back().size(); ++c)
      inverse_half_.insert(inverse_half_.end(), static_cast<std::size_t>(tables_[k].parts(c)),
                           static_cast<T>(1.0 / tables_[k].half_width(c)));
    place_rows(batch, static_cast<int>(k), cells.back(), rows);
    first_interval_.push_back(static_cast<int>(inverse_half_.size()));
  }
  for (Rows<T>* table : {&coefficients_, &adjoints_}) table->reserve(static_cast<std::int64_t>(intervals()) * terms);
  adjoints_.zero(static_cast<std::int64_t>(intervals()) * terms);
  first_interval_.assign(1, 0);
  for (const EmbeddingTable& table : tables_) {
    append_coefficients(table);
    first_interval_.push_back(first_interval_.back() + table.intervals());
  }
  find_runs(batch, rows);
}

template <class T>
auto InterpolatedSums<T>::runs_of(const Batch& batch, int tj, int atom) const -> std::span<const Run> {
  const auto k = static_cast<std::size_t>(tj * batch.atoms() + atom);
  return std::span(runs_).subspan(run_begin_[k], run_begin_[k + 1] - run_begin_[k]);
}

template <class T>
void InterpolatedSums<T>::add_values(const Batch& batch, int tj, int atom, const PairRows<T>&, T* a) {
  const int stride = kernels_.stride, width = kernels_.channels;
  for (const Run& run : runs_of(batch, tj, atom)) {
    const T* coefficient = coefficients_.row(static_cast<std::int64_t>(run.interval) * terms);
    kernels_.components == 4 ? runs::add_sums<T, 4>(moment(number(run)), coefficient, stride, width, a)
                             : runs::add_sums<T, 1>(moment(number(run)), coefficient, stride, width, a);
  }
}

template <class T>
void InterpolatedSums<T>::padding_value(int row, T* value) {
  std::fill_n(value, kernels_.channels, T(0));
  for (int j = 0; j < terms; ++j) {
    const T* coefficient = coefficients_.row(static_cast<std::int64_t>(interval_[row]) * terms + j);
    for (int m = 0; m < kernels_.channels; ++m) value[m] += powers(row)[j] * coefficient[m];
  }
}

template <class T>
template <int K>
void InterpolatedSums<T>::gradients_of_run(const Run& run, const T* p, PairRows<T>& rows) const {
  using Terms = runs::Terms<T>;
  alignas(64) T dots[4 * terms];
  runs::products<T, K>(p, coefficients_.row(static_cast<std::int64_t>(run.interval) * terms), kernels_.stride,
                       kernels_.channels, dots);
  const Terms derivative = runs::exponents<T>() * Terms(inverse_half_[run.interval]);
  for (int r = run.first; r < run.first + run.count; ++r) {
    const Terms power = Terms::load(powers(r)), slope = Terms::load(powers(r) - 1) * derivative;
    const T* c = rows.c_of(r);
    Terms mixed = T(0);
    for (int k = 0; k < K; ++k) {
      const Terms dot = Terms::load(dots + k * terms);
      rows.c_bar[4 * static_cast<std::size_t>(r) + static_cast<std::size_t>(k)] = runs::total_of(dot * power);
      mixed = fma(Terms(c[k]), dot, mixed);
    }
    rows.x_bar[r] = runs::total_of(mixed * slope);
  }
}

template <class T>
void InterpolatedSums<T>::row_gradients(const Batch& batch, int tj, int atom, const T* p, PairRows<T>& rows) {
  for (const Run& run : runs_of(batch, tj, atom))
    kernels_.components == 4 ? gradients_of_run<4>(run, p, rows) : gradients_of_run<1>(run, p, rows);
}

template <class T>
template <int K>
void InterpolatedSums<T>::change_of_run(std::size_t index, const PairRows<T>& rows, T* a) {
  using Terms = runs::Terms<T>;
  const Run& run = runs_[index];
  const Terms derivative = runs::exponents<T>() * Terms(inverse_half_[run.interval]);
  Terms sum[K];
  for (Terms& s : sum) s = T(0);
  for (int r = run.first; r < run.first + run.count; ++r) {
    const Terms power = Terms::load(powers(r));
    const Terms slope = Terms::load(powers(r) - 1) * derivative * Terms(rows.x_dot[r]);
    const T *c = rows.c_of(r), *c_dot = rows.c_dot_of(r);
    for (int k = 0; k < K; ++k) sum[k] = fma(power, Terms(c_dot[k]), fma(slope, Terms(c[k]), sum[k]));
  }
  for (int k = 0; k < K; ++k) sum[k].store(change(index) + k * terms);
  runs::add_sums<T, K>(change(index), coefficients_.row(static_cast<std::int64_t>(run.interval) * terms),
                       kernels_.stride, kernels_.channels, a);
}

template <class T>
void InterpolatedSums<T>::add_changes(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) {
  for (const Run& run : runs_of(batch, tj, atom))
    kernels_.components == 4 ? change_of_run<4>(number(run), rows, a) : change_of_run<1>(number(run), rows, a);
}

template <class T>
void InterpolatedSums<T>::backward(const Batch& batch, int tj, int ti, const NetworkWeights<T>&, const PairRows<T>&,
                                   const typename NeighbourSums<T>::Adjoints& adjoints) {
  const int stride = kernels_.stride, width = kernels_.channels, components = kernels_.components;
  for (std::int64_t i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
    const T *a_bar = adjoints.a_bar->row(i * components), *p = adjoints.p->row(i * components);
    for (const Run& run : runs_of(batch, tj, static_cast<int>(i))) {
      T* bar = adjoints_.row(static_cast<std::int64_t>(run.interval) * terms);
      components == 4
          ? runs::add_adjoints<T, 4>(moment(number(run)), change(number(run)), a_bar, p, stride, width, bar)
          : runs::add_adjoints<T, 1>(moment(number(run)), change(number(run)), a_bar, p, stride, width, bar);
    }
  }
  const int padding = batch.block_end(tj, ti) - 1;
  const T* value_bar = adjoints.padding->row(tj * batch.ntypes() + ti);
  for (int j = 0; j < terms; ++j) {
    T* bar = adjoints_.row(static_cast<std::int64_t>(interval_[padding]) * terms + j);
    for (int m = 0; m < width; ++m) bar[m] += powers(padding)[j] * value_bar[m];
  }
}

template <class T>
void InterpolatedSums<T>::finish(int index, const NetworkWeights<T>& net) {
  const auto k = static_cast<std::size_t>(index);
  std::vector<double> adjoint;
  for (int row = first_interval_[k] * terms; row < first_interval_[k + 1] * terms; ++row)
    adjoint.insert(adjoint.end(), adjoints_.row(row), adjoints_.row(row) + kernels_.channels);
  tables_[k].backward<T>(adjoint, net);
}

template class InterpolatedSums<double>;
template class InterpolatedSums<float>;

}  // namespace cambium::deepmd
