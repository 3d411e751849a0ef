#include "core/train/register.hpp"

#include "core/plugin/registry.hpp"
#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/data/hdf5_dataset.hpp"
#include "core/train/data/shuffle_loader.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/networks/transformer/grammar_set.hpp"
#include "core/train/networks/transformer/transformer.hpp"
#include "core/train/plan/plan_command.hpp"
#include "core/train/run/evaluate.hpp"
#include "core/train/run/train.hpp"
#include "core/train/step/optimizers/adam.hpp"
#include "core/train/step/optimizers/layerwise.hpp"
#include "core/train/step/optimizers/sgd.hpp"
#include "core/train/step/optimizers/split.hpp"
#include "core/train/step/rates/learning_rate.hpp"

namespace cambium::train {

void register_training(Registry& registry) {
  registry.set_plugin("core");
  registry.add<Train>("train", "fit a network to a data set");
  registry.add_command(plan_command(registry));
  registry.add<Evaluate>("evaluate", "errors of a trained model on a data set");
  registry.add<Hdf5Dataset>("hdf5", "arrays of HDF5 files whose first axis counts samples");
  registry.add<Mlp>("mlp", "fully connected network for numbers or classes");
  registry.add<Transformer>("transformer", "causal transformer over bytes");
  registry.add<GrammarSet>("grammar", "texts of a made language whose entropy is known");
  registry.add<ExpressionSet>("expression", "formulas over a box, made in memory");
  registry.add<BufferedLoader>("buffered", "keeps samples in memory by what is used soonest, and reads ahead");
  registry.add<ShuffleLoader>("shuffle", "reads every batch when it is needed, keeps nothing");
  registry.add<Sgd>("sgd", "stochastic gradient descent with momentum");
  registry.add<Adam>("adam", "mean and mean square of the gradient");
  registry.add<AdamW>("adamw", "Adam with decoupled weight decay");
  registry.add<Lars>("lars", "SGD with a rate for every tensor, for large batches");
  registry.add<Lamb>("lamb", "Adam with a rate for every tensor, for large batches");
  registry.add<SplitSgd>("split_sgd", "SGD on bfloat16 weights whose lower bits are optimizer state");
  registry.add<SplitAdamW>("split_adamw", "AdamW on bfloat16 weights whose lower bits are optimizer state");
  registry.add<ConstantRate>("constant", "the same rate at every step");
  registry.add<LinearRate>("linear", "straight from start to stop");
  registry.add<PolynomialRate>("polynomial", "from start to stop by a power of what is left");
  registry.add<ExponentialRate>("exponential", "in stairs of equal ratio from start to stop (DeePMD-kit's decay)");
  registry.add<StepRate>("step", "multiplied by a factor at given steps");
  registry.add<CosineRate>("cosine", "half a cosine from start to stop");
  registry.add<SequenceRate>("sequence", "schedules one after the other");
}

}  // namespace cambium::train
