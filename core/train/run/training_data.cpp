#include "core/train/run/training_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/memory.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/mixture_set.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/kinds/varies_by_member.hpp"

namespace cambium::train {

TrainingData::TrainingData(const Train::Params& params, std::uint64_t seed, Context& context)
    : params_(params), seed_(seed), context_(context) {
  const auto& registry = *context.registry;
  whole_ = registry.make<Dataset>(params.dataset, context);
  if (params.validation) held_out_ = registry.make<Dataset>(*params.validation, context);
  loader_ = registry.make<Loader>(params.loader, context);
}

void TrainingData::take_member(int member) {
  for (auto* set : {whole_.get(), held_out_.get()})
    if (auto* varies = dynamic_cast<VariesByMember*>(set)) varies->take_member(member);
}

/// Metrics on values with a different unit, or on classes in a different order, would be silently wrong.
static void require_same_meaning(const std::vector<FieldInfo>& training, const std::vector<FieldInfo>& validation) {
  for (const auto& field : training)
    for (const auto& other : validation) {
      if (other.name == field.name && !same_classes(field, other))
        throw KeyError("train.validation.categories", "validation",
                       fmt::format("the field '{}' has the categories {} in the training set, but {} in the validation "
                                   "set; give the same ones in the same order",
                                   field.name, fmt::join(field.categories, ", "), fmt::join(other.categories, ", ")));
      if (other.name == field.name && other.unit != field.unit)
        throw KeyError(
            "train.validation.unit", "validation",
            fmt::format(
                "the field '{}' is in {} in the training set, but in {} in the validation set; convert one of them",
                field.name, field.unit.empty() ? "no unit" : field.unit, other.unit.empty() ? "no unit" : other.unit));
    }
}

/// Steps for this number of epochs, rounded up; doubles represent integers exactly up to 9e15.
static std::int64_t steps_of(double epochs, double per_epoch) {
  const double steps = std::ceil(epochs * per_epoch);
  if (!(steps <= 9e15))
    throw KeyError(
        "train.epochs.range", "epochs",
        fmt::format(
            "epochs is {:g}, with {:g} steps in each: more steps than can be counted; give fewer epochs, or 'steps'",
            epochs, per_epoch));
  return static_cast<std::int64_t>(steps);
}

void TrainingData::hold_some_out() {
  if (const auto* mixture = dynamic_cast<const MixtureSet*>(whole_.get()); mixture && mixture->repeats())
    throw KeyError("train.hold_out.mixture", "hold_out",
                   "the mixture has samples several times, which would be trained on and held out; give validation (a "
                   "data set), or equal weights");
  auto [held, rest] = hold_out(seed_, whole_->size(), params_.hold_out);
  if (held.empty())
    throw KeyError("train.hold_out.empty", "hold_out",
                   fmt::format("hold_out {:g} of {} samples is none; hold out more, or remove it", params_.hold_out,
                               whole_->size()));
  if (rest.empty())
    throw KeyError(
        "train.hold_out.all", "hold_out",
        fmt::format("hold_out {:g} of {} samples leaves none to train on; hold out fewer, or give more samples",
                    params_.hold_out, whole_->size()));
  training_ = std::make_unique<Subset>(*whole_, std::move(rest));
  held_out_ = std::make_unique<Subset>(*whole_, std::move(held));
}

/// Every rank stores the order of an epoch, unless it is computed, and temporarily that of the held-out fraction.
void TrainingData::require_room(std::int64_t samples) const {
  const bool stored = params_.permutation == BatchPlan::Permutation::stored;
  const double order = (stored ? sizeof(std::int64_t) : 0) +
                       (params_.hold_out > 0.0 ? sizeof(std::pair<double, std::int64_t>) + sizeof(std::int64_t) : 0);
  require_memory(order * static_cast<double>(samples), fmt::format("the order of {} samples", samples),
                 "train on fewer samples", context_);
}

/// Steps of the entire training.
std::int64_t TrainingData::steps_over(std::int64_t samples) const {
  const std::int64_t batch = params_.batch.value_or(samples);
  if (batch > samples)
    throw KeyError("train.batch.range", "batch",
                   fmt::format("batch is {}, but the training set has {} samples; lower batch", batch, samples));
  const double per_epoch = static_cast<double>((samples - 1) / batch + 1);
  return params_.steps ? *params_.steps : steps_of(*params_.epochs, per_epoch);
}

void TrainingData::check() const {
  const std::int64_t samples = whole_->size();
  if (samples == 0) return;  // known only after opening files
  require_room(samples);
  steps_over(samples);
}

void TrainingData::open() {
  deck::about_key("train.dataset", "dataset", [&] { whole_->open(context_); });
  if (whole_->size() == 0)
    throw KeyError("train.dataset.empty", "dataset", "the data set is empty: there is nothing to train on");
  require_room(whole_->size());
  if (held_out_) deck::about_key("train.validation", "validation", [&] { held_out_->open(context_); });
  if (params_.hold_out > 0.0)
    hold_some_out();
  else
    training_ = std::move(whole_);
  if (held_out_) require_same_meaning(training_->fields(), held_out_->fields());
  augment_ = Augment(params_.augment, training_->fields(), seed_);
  plan_.batch = params_.batch.value_or(training_->size());
  steps_ = steps_over(training_->size());
}

void TrainingData::require_same_axes(const ReadsFields* network) const {
  if (!held_out_) return;
  for (const auto& field : training_->fields())
    for (const auto& other : held_out_->fields())
      if (other.name == field.name && reads_in_order(network, field.name) && axes_differ(field.shape, other.shape))
        throw KeyError(
            "train.validation.axes", "validation",
            fmt::format(
                "the field '{}' has the shape ({}) in the training set, but ({}) in the validation set: equally "
                "many values in another order; transpose one of them",
                field.name, fmt::join(field.shape, ", "), fmt::join(other.shape, ", ")));
}

void TrainingData::start(std::uint64_t seed, int turns) {
  augment_ = Augment(params_.augment, training_->fields(), seed);
  plan_.seed = seed;
  plan_.samples = training_->size();
  plan_.permutation = params_.permutation;
  plan_.ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  plan_.slices = plan_.ordered ? params_.reduce.slices : params_.accumulate;
  plan_.rank = context_.comm.rank();
  plan_.ranks = context_.comm.size();
  if (plan_.ordered) plan_.turns = turns;
  plan_.steps = steps_;
  deck::about_key("train.loader", "loader", [&] { loader_->open(*training_, plan_, context_); });
}

Batch TrainingData::batch_of(std::int64_t step) {
  const Region region("make a batch", WorkKind::movement);
  Batch out = loader_->batch(step);
  augment_.apply(out);
  return out;
}

std::vector<Citation> TrainingData::citations() const {
  std::vector<Citation> out = (training_ ? training_ : whole_)->citations();
  if (held_out_)
    for (const auto& work : held_out_->citations()) out.push_back(work);
  return out;
}

}  // namespace cambium::train
