// Descriptors with type embedding in training, se_atten without attention and se_e2_a: a pair descriptor with an
// embedding network for each pair of species, whose weights are those of one network and of the species' embeddings.
#include <algorithm>

#include "plugins/deepmd/model/type_embedding.hpp"
#include "plugins/deepmd/training/shared_embedding.hpp"
#include "plugins/deepmd/training/trained_descriptor.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
class SpeciesDescriptor : public TrainedDescriptor<T> {
 public:
  SpeciesDescriptor(const DeepPotentialModel& shape, double interpolation);
  int size() const override { return columns_ + shape_.type_columns(); }
  int networks() const override { return 2; }

  void embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) override;
  void value(int atom, T* d) override;
  void take_gradient(int atom, const T* d_gradient) override { pairs_->take_gradient(atom, d_gradient); }
  void add_forces(const Batch& batch, ForceSums& sums) override { pairs_->add_forces(batch, sums); }
  void take_changes(const Batch& batch, const LossAdjoint& adjoint) override { pairs_->take_changes(batch, adjoint); }
  void change(const Batch& batch, int atom, T* d_dot) override;
  void take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) override;
  void backward(const Batch& batch, const NetworkWeights<T>& net, int index) override;

 private:
  const DeepPotentialModel& shape_;
  DeepPotentialModel by_species_;
  std::unique_ptr<TrainedDescriptor<T>> pairs_;
  int columns_;  ///< of the pairs
  SharedEmbedding<T> shared_;
  std::vector<int> type_;  ///< of every atom
};

template <class T>
SpeciesDescriptor<T>::SpeciesDescriptor(const DeepPotentialModel& shape, double interpolation)
    : shape_(shape), by_species_(by_species(shape)), pairs_(make_pair_descriptor<T>(by_species_, interpolation)),
      columns_(pairs_->size()), shared_(shape) {}

template <class T>
void SpeciesDescriptor<T>::embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) {
  shared_.take(networks[0], networks[1]);
  pairs_->embed(batch, shared_.networks());
  type_.resize(batch.atoms());
  for (int t = 0; t < batch.ntypes(); ++t)
    std::fill(type_.begin() + batch.type_begin(t), type_.begin() + batch.type_begin(t + 1), t);
}

template <class T>
void SpeciesDescriptor<T>::value(int atom, T* d) {
  pairs_->value(atom, d);
  const std::vector<double>& species = shared_.of(type_[atom]);
  for (int k = 0; k < shape_.type_columns(); ++k)
    d[columns_ + k] = static_cast<T>(species[static_cast<std::size_t>(k)]);
}

template <class T>
void SpeciesDescriptor<T>::change(const Batch& batch, int atom, T* d_dot) {
  pairs_->change(batch, atom, d_dot);
  std::fill_n(d_dot + columns_, shape_.type_columns(), T(0));
}

template <class T>
void SpeciesDescriptor<T>::take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) {
  pairs_->take_adjoints(atom, d_bar, d_dot_bar);
  if (shape_.type_columns() > 0) shared_.add_adjoint(type_[atom], d_bar + columns_);
}

template <class T>
void SpeciesDescriptor<T>::backward(const Batch& batch, const NetworkWeights<T>& net, int index) {
  if (index == 0) return shared_.backward_types(net);
  for (int pair = 0; pair < static_cast<int>(shared_.networks().size()); ++pair)
    pairs_->backward(batch, shared_.with_gradient(pair, net), pair);
  shared_.backward(net);
}

}  // namespace

template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_species_descriptor(const DeepPotentialModel& shape, double interpolation) {
  return std::make_unique<SpeciesDescriptor<T>>(shape, interpolation);
}

template std::unique_ptr<TrainedDescriptor<double>> make_species_descriptor(const DeepPotentialModel&, double);
template std::unique_ptr<TrainedDescriptor<float>> make_species_descriptor(const DeepPotentialModel&, double);

}  // namespace cambium::deepmd
