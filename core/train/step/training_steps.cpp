#include "core/train/step/training_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"

namespace cambium::train {

void TrainingSteps::bring_samples(Dataset& data, Loader& loader, bool all_used) {
  DeviceSteps* const device = step_.device();
  if (!device) return;
  const Region region("bring samples to the device", WorkKind::movement);
  if (all_used && loader.numbers(progress_.step)) device->bring_samples(data);
  context_.log.info(fmt::format("weights, gradients and states lie in the memory of the kernels; samples {}",
                                device->resident() ? "do, too" : "are brought to them in each step"));
}

/// One step: batch, gradient, sum over ranks, bounds, update.
void TrainingSteps::advance(Loader& loader, const BatchPlan& plan) {
  const auto timer = context_.timing.scope("data");  // what lies between the sections inside, too: slices, their end
  DeviceSteps* const device = step_.device();
  if (device && device->resident()) return advance_resident(loader, plan);
  Batch batch;
  {
    const Region region("make a batch", WorkKind::movement);
    batch = loader.batch(progress_.step);
  }
  Share share;
  DeviceShare there;
  for (const auto& samples : batch.slices) {
    share.numbers.push_back(plan.slice_number(std::ssize(share.slices)));
    share.slices.emplace_back(samples);
    there.slices.push_back({nullptr, std::ssize(samples), samples});
  }
  there.numbers = share.numbers;
  if (device)
    step_.start_gradient(there, progress_.step);
  else
    take(progress_.step, step_.gradient(share, progress_.step));
  finish_step(batch.samples);
}

/// The same where all samples lie on the device: they are chosen by their numbers.
void TrainingSteps::advance_resident(Loader& loader, const BatchPlan& plan) {
  DeviceShare share;
  std::int64_t samples = 0;
  {
    const Region region("make a batch", WorkKind::movement);
    const auto batch = loader.numbers(progress_.step);
    share.slices = step_.device()->slices(*batch);
    samples = batch->samples;
  }
  for (std::int64_t k = 0; k < std::ssize(share.slices); ++k) share.numbers.push_back(plan.slice_number(k));
  step_.start_gradient(share, progress_.step);
  finish_step(samples);
}

void TrainingSteps::finish_step(std::int64_t samples) {
  step_.update(samples, progress_.step);
  ++progress_.step;
  if (step_.device() && step_.device()->full()) take_losses();
}

/// Of the steps whose losses the device kept.
void TrainingSteps::take_losses() {
  if (!step_.device()) return;
  const auto timer = context_.timing.scope("gradient");  // it is what is waited for
  for (const auto& past : step_.device()->losses()) take(past.step, past.loss);
}

void TrainingSteps::take(std::int64_t step, const Loss& loss) {
  watch(step, loss);
  progress_.loss_window += loss.value;
  ++progress_.window_steps;
}

/// Adds to the window of the log; NumericalError when a term is no number or the loss has run away.
void TrainingSteps::watch(std::int64_t before, const Loss& loss) {
  constexpr std::int64_t first_steps = 10;
  const std::int64_t step = before + 1;
  const auto rate = step_.rate(before);
  const auto& terms = loss.terms;
  const auto name = [&](std::size_t k) { return step_.network().terms()[k].name; };
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (!std::isfinite(terms[k].sum))
      throw NumericalError(
          fmt::format("training diverged at step {}: the term '{}' of the loss is {}; the learning rate was {:.3g}, "
                      "try a tenth of it or a warm_up",
                      step, name(k), std::isnan(terms[k].sum) ? "not a number" : "infinite", rate));
    progress_.window[k].sum += terms[k].sum;
    progress_.window[k].count += terms[k].count;
  }
  if (step <= first_steps) {
    progress_.first_loss = std::max(progress_.first_loss, loss.value);
    return;
  }
  if (!(loss.value > explode_ * progress_.first_loss)) return;
  std::size_t worst = 0;
  for (std::size_t k = 1; k < terms.size(); ++k)
    if (terms[k].sum * terms[worst].count > terms[worst].sum * terms[k].count) worst = k;
  throw NumericalError(
      fmt::format("training diverged at step {}: the loss is {:.3g}, more than explode = {:g} times its first values "
                  "({:.3g}), most of it in the term '{}'; the learning rate was {:.3g}, try a tenth of it or a warm_up",
                  step, loss.value, explode_, progress_.first_loss, name(worst), rate));
}

}  // namespace cambium::train
