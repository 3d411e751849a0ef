// The descriptor se_atten with attention layers in training. Embeddings are evaluated at every pair; an atom's
// attention is recomputed for its value, its forces, its tangent and the adjoints, so that nothing of it is stored.
#include <algorithm>
#include <cmath>

#include "plugins/deepmd/model/attention.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"
#include "plugins/deepmd/training/embedding_pass.hpp"
#include "plugins/deepmd/training/shared_embedding.hpp"
#include "plugins/deepmd/training/trained_descriptor.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
class AttentionDescriptor : public TrainedDescriptor<T> {
 public:
  explicit AttentionDescriptor(const DeepPotentialModel& shape);
  int size() const override { return shape_.descriptor_size(); }
  int networks() const override { return 2 + static_cast<int>(shape_.attention.networks.size()); }

  void embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) override;
  void value(int atom, T* d) override;
  void take_gradient(int atom, const T* d_gradient) override;
  void add_forces(const Batch& batch, ForceSums& sums) override;
  void take_changes(const Batch& batch, const LossAdjoint& adjoint) override;
  void change(const Batch& batch, int atom, T* d_dot) override;
  void take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) override;
  void backward(const Batch& batch, const NetworkWeights<T>& net, int index) override;

 private:
  void take_weights(std::span<const NetworkWeights<T>> networks);
  void find_rows(const Batch& batch);
  void backward_embedding(const Batch& batch, const NetworkWeights<T>& net);
  std::span<const int> rows_of(int atom) const {
    const auto first = static_cast<std::size_t>(first_[atom]), end = static_cast<std::size_t>(first_[atom + 1]);
    return std::span(rows_).subspan(first, end - first);
  }
  template <int planes>
  void attend(int atom, AttendedAtom<T, planes>& attended);

  const DeepPotentialModel& shape_;
  DeepPotentialModel by_species_;
  SharedEmbedding<T> shared_;
  std::vector<NeighbourGeometry> geometry_;  ///< by centre type
  EmbeddingPass<T> pass_;
  std::vector<AttentionWeights<T>> weights_, gradients_;
  AttendedAtom<T, 1> still_;
  AttendedAtom<T, 2> moving_;

  const Batch* batch_ = nullptr;
  std::vector<int> type_;                      ///< of every atom
  std::vector<int> first_, rows_;              ///< rows within this descriptor's cut-off, atom by atom
  std::vector<T> x_, x_dot_;                   ///< of every row: input of the embedding, its change
  std::vector<std::array<double, 3>> moves_;   ///< of every row
  std::vector<NeighbourGeometry::Seen> seen_;  ///< of every row
  std::vector<std::array<double, 3>> pull_;    ///< of every row: dE/dd
  Rows<T> value_bar_, slope_bar_;              ///< of every row
};

template <class T>
AttentionDescriptor<T>::AttentionDescriptor(const DeepPotentialModel& shape)
    : shape_(shape), by_species_(by_species(shape)), shared_(shape), pass_(widths_of(shape.embedding.front())),
      still_(shape.attention, shape.width(), shape.axis_neuron, shape.neighbours()),
      moving_(shape.attention, shape.width(), shape.axis_neuron, shape.neighbours()),
      value_bar_(shape.width(), native_width<T>), slope_bar_(shape.width(), native_width<T>) {
  const CutOff cutoff = CutOff::make(shape.rcut_smth, shape.rcut, shape.env_protection, false);
  for (int t = 0; t < shape.ntypes(); ++t) {
    const auto& deviation = shape.deviation.at(static_cast<std::size_t>(t * shape.ntypes()));
    geometry_.push_back({cutoff, {1.0 / deviation[0], 1.0 / deviation[1], 1.0 / deviation[2], 1.0 / deviation[3]}});
  }
}

/// Copies the weights: with sharded weights they are no longer available when an atom's attention is recomputed.
template <class T>
void AttentionDescriptor<T>::take_weights(std::span<const NetworkWeights<T>> networks) {
  weights_.clear();
  const auto matrix = [](const LayerWeights<T>& l) { return std::vector<T>(l.w, l.w + l.in * l.out); };
  const auto bias = [](const LayerWeights<T>& l) { return std::vector<T>(l.b.begin(), l.b.begin() + l.out); };
  for (std::size_t k = 2; k < networks.size(); k += 3) {
    const auto &project = networks[k][0], &out = networks[k + 1][0], &norm = networks[k + 2][0];
    weights_.push_back({matrix(project), bias(project), matrix(out), bias(out), matrix(norm), bias(norm)});
  }
  gradients_.clear();
  for (const auto& layer : weights_) gradients_.push_back(layer.zeros());
}

template <class T>
void AttentionDescriptor<T>::find_rows(const Batch& batch) {
  const auto n = static_cast<std::size_t>(batch.rows());
  x_.assign(n, T(0));
  x_dot_.assign(n, T(0));
  seen_.resize(n);
  moves_.assign(n, {0.0, 0.0, 0.0});
  pull_.assign(n, {0.0, 0.0, 0.0});
  first_.assign(1, 0);
  rows_.clear();
  for (int atom = 0; atom < batch.atoms(); ++atom) {
    for (int tj = 0; tj < batch.ntypes(); ++tj)
      for (int r = batch.row_begin(tj, atom), end = r + batch.row_count(tj, atom); r < end; ++r) {
        const double* d = batch.d(r);
        if (std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) >= shape_.rcut) continue;
        const auto& seen = seen_[static_cast<std::size_t>(r)] = geometry_[type_[atom]].seen(d);
        x_[static_cast<std::size_t>(r)] = static_cast<T>(seen.c[0]);
        rows_.push_back(r);
      }
    first_.push_back(static_cast<int>(rows_.size()));
  }
}

template <class T>
void AttentionDescriptor<T>::embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) {
  batch_ = &batch;
  shared_.take(networks[0], networks[1]);
  take_weights(networks);
  type_.resize(batch.atoms());
  for (int t = 0; t < batch.ntypes(); ++t)
    std::fill(type_.begin() + batch.type_begin(t), type_.begin() + batch.type_begin(t + 1), t);
  find_rows(batch);
  pass_.reserve(batch.rows());
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti)
      pass_.forward(shared_.networks()[by_species_.embedding_index(ti, tj)], x_.data(), batch.block_begin(tj, ti),
                    batch.block_end(tj, ti));
  for (Rows<T>* rows : {&value_bar_, &slope_bar_}) {
    rows->reserve(batch.rows());
    rows->zero(batch.rows());
  }
}

template <class T>
template <int planes>
void AttentionDescriptor<T>::attend(int atom, AttendedAtom<T, planes>& attended) {
  const auto rows = rows_of(atom);
  const auto width = static_cast<std::size_t>(shape_.width());
  attended.resize(static_cast<int>(rows.size()));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto r = static_cast<std::size_t>(rows[n]);
    NeighbourGeometry::Seen moved{};
    if constexpr (planes == 2) moved = geometry_[type_[atom]].change(batch_->d(rows[n]), moves_[r].data());
    const NeighbourGeometry::Seen* planes_of[] = {&seen_[r], &moved};
    for (std::size_t p = 0; p < planes; ++p) {
      for (std::size_t k = 0; k < 4; ++k) attended.c.plane[p][4 * n + k] = static_cast<T>(planes_of[p]->c[k]);
      for (std::size_t k = 0; k < 3; ++k) attended.u.plane[p][3 * n + k] = static_cast<T>(planes_of[p]->u[k]);
      attended.s.plane[p][n] = static_cast<T>(planes_of[p]->s);
    }
    const T *value = pass_.value(rows[n]), *slope = pass_.slope(rows[n]);
    for (std::size_t m = 0; m < width; ++m) {
      attended.g.plane[0][n * width + m] = value[m];
      if constexpr (planes == 2) attended.g.plane[1][n * width + m] = slope[m] * x_dot_[r];
    }
  }
  attended.forward(weights_);
}

template <class T>
void AttentionDescriptor<T>::value(int atom, T* d) {
  attend(atom, still_);
  still_.descriptor(true, d);
  const int columns = size() - shape_.type_columns();
  for (int k = 0; k < shape_.type_columns(); ++k)
    d[columns + k] = static_cast<T>(shared_.of(type_[atom])[static_cast<std::size_t>(k)]);
}

template <class T>
void AttentionDescriptor<T>::take_gradient(int atom, const T* d_gradient) {
  attend(atom, still_);
  still_.backward(weights_, true, {d_gradient}, nullptr);
  const auto rows = rows_of(atom);
  const auto width = static_cast<std::size_t>(shape_.width());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    NeighbourGeometry::Seen bar{};
    const T* slope = pass_.slope(rows[n]);
    T of_input(0);
    for (std::size_t m = 0; m < width; ++m) of_input += still_.g_bar.plane[0][n * width + m] * slope[m];
    for (std::size_t k = 0; k < 4; ++k) bar.c[k] = static_cast<double>(still_.c_bar.plane[0][4 * n + k]);
    for (std::size_t k = 0; k < 3; ++k) bar.u[k] = static_cast<double>(still_.u_bar.plane[0][3 * n + k]);
    bar.c[0] += static_cast<double>(of_input);  // the input is c[0]
    bar.s = static_cast<double>(still_.s_bar.plane[0][n]);
    pull_[static_cast<std::size_t>(rows[n])] = geometry_[type_[atom]].gradient(batch_->d(rows[n]), bar);
  }
}

template <class T>
void AttentionDescriptor<T>::add_forces(const Batch& batch, ForceSums& sums) {
  for (int r : rows_) sums.add(batch, r, pull_[static_cast<std::size_t>(r)].data());
}

template <class T>
void AttentionDescriptor<T>::take_changes(const Batch& batch, const LossAdjoint& adjoint) {
  for (int row : rows_) {
    const auto r = static_cast<std::size_t>(row);
    moves_[r] = move_of(batch, adjoint, row);
    x_dot_[r] = static_cast<T>(geometry_[type_[batch.centre(row)]].change(batch.d(row), moves_[r].data()).c[0]);
  }
}

template <class T>
void AttentionDescriptor<T>::change(const Batch&, int atom, T* d_dot) {
  attend(atom, moving_);
  moving_.descriptor(true, d_dot);
  std::fill_n(d_dot + size() - shape_.type_columns(), shape_.type_columns(), T(0));
}

template <class T>
void AttentionDescriptor<T>::take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) {
  attend(atom, moving_);
  moving_.backward(weights_, true, {d_dot_bar, d_bar}, &gradients_);
  const auto rows = rows_of(atom);
  const auto width = static_cast<std::size_t>(shape_.width());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const T x_dot = x_dot_[static_cast<std::size_t>(rows[n])];
    T *value = value_bar_.row(rows[n]), *slope = slope_bar_.row(rows[n]);
    for (std::size_t m = 0; m < width; ++m) {
      value[m] = moving_.g_bar.plane[1][n * width + m];
      slope[m] = moving_.g_bar.plane[0][n * width + m] * x_dot;
    }
  }
  if (shape_.type_columns() > 0) shared_.add_adjoint(type_[atom], d_bar + size() - shape_.type_columns());
}

template <class T>
void AttentionDescriptor<T>::backward_embedding(const Batch& batch, const NetworkWeights<T>& net) {
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const NetworkWeights<T> own = shared_.with_gradient(by_species_.embedding_index(ti, tj), net);
      const int end = batch.block_end(tj, ti);
      for (int from = batch.block_begin(tj, ti); from < end; from += EmbeddingPass<T>::block) {
        const int to = std::min(end, from + EmbeddingPass<T>::block);
        for (int r = from; r < to; ++r) {
          std::copy_n(value_bar_.row(r), value_bar_.stride(), pass_.value_bar(r - from));
          std::copy_n(slope_bar_.row(r), slope_bar_.stride(), pass_.slope_bar(r - from));
        }
        pass_.backward(own, x_.data(), from, to);
      }
    }
  shared_.backward(net);
}

template <class T>
void AttentionDescriptor<T>::backward(const Batch& batch, const NetworkWeights<T>& net, int index) {
  if (index == 0) return shared_.backward_types(net);
  if (index == 1) return backward_embedding(batch, net);
  const AttentionWeights<T>& gradient = gradients_[static_cast<std::size_t>((index - 2) / 3)];
  const std::vector<T>* const matrices[] = {&gradient.project, &gradient.out, &gradient.factor};
  const std::vector<T>* const biases[] = {&gradient.project_bias, &gradient.out_bias, &gradient.shift};
  const LayerWeights<T>& layer = net.front();
  const auto& matrix = *matrices[(index - 2) % 3];
  const auto& bias = *biases[(index - 2) % 3];
  for (std::size_t k = 0; k < matrix.size(); ++k) layer.dw[k] += matrix[k];
  for (std::size_t k = 0; k < bias.size(); ++k) layer.db[k] += bias[k];
}

}  // namespace

template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_attention_descriptor(const DeepPotentialModel& shape) {
  return std::make_unique<AttentionDescriptor<T>>(shape);
}

template std::unique_ptr<TrainedDescriptor<double>> make_attention_descriptor(const DeepPotentialModel&);
template std::unique_ptr<TrainedDescriptor<float>> make_attention_descriptor(const DeepPotentialModel&);

}  // namespace cambium::deepmd
