#include "core/train/register.hpp"

#include "core/plugin/registry.hpp"
#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/csv_dataset.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/data/hdf5_dataset.hpp"
#include "core/train/data/mixture_set.hpp"
#include "core/train/data/shuffle_loader.hpp"
#include "core/train/low_rank/compress.hpp"
#include "core/train/networks/mlp/trained_mlp.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/layerwise.hpp"
#include "core/train/optimizers/lbfgs.hpp"
#include "core/train/optimizers/lion.hpp"
#include "core/train/optimizers/muon.hpp"
#include "core/train/optimizers/nadam.hpp"
#include "core/train/optimizers/rmsprop.hpp"
#include "core/train/optimizers/schedule_free.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "core/train/optimizers/soap.hpp"
#include "core/train/optimizers/split.hpp"
#include "core/train/run/evaluate.hpp"
#include "core/train/run/export_weights.hpp"
#include "core/train/run/predict.hpp"
#include "core/train/run/train.hpp"
#include "core/train/step/learning_rate.hpp"
#include "core/train/tune/tune.hpp"

namespace cambium::train {

static void register_data(Registry& registry) {
  registry.add<Hdf5Dataset>("hdf5", "arrays of HDF5 files whose first axis counts samples")
      .synonyms({"h5", "hdf", "arrays"});
  registry.add<CsvDataset>("csv", "columns of tables in text, whose lines are samples")
      .synonyms({"tsv", "table", "text", "pandas", "dataframe", "spreadsheet"});
  registry.add<ExpressionSet>("expression", "formulas over a box, made in memory")
      .synonyms({"formula", "function", "synthetic", "analytic"});
  registry.add<MixtureSet>("mixture", "samples of several data sets in given proportions")
      .synonyms({"mix", "weighted", "concatenate", "blend"});
  registry.add<BufferedLoader>("buffered", "caches samples by their next use, and reads ahead")
      .synonyms({"solar", "cached", "prefetch"});
  registry.add<ShuffleLoader>("shuffle", "reads every batch when it is needed, caches nothing")
      .synonyms({"random", "shuffled", "plain"});
}

void register_training(Registry& registry) {
  registry.set_plugin("core");
  register_data(registry);
  registry.add<Train>("train", "fit a network to a data set").synonyms({"fit", "training", "learn", "optimize"});
  registry.add<Evaluate>("evaluate", "errors of a trained model on a data set")
      .synonyms({"eval", "evaluation", "validate", "validation", "score"});
  registry.add<Predict>("predict", "predictions of a trained model for data without labels")
      .synonyms({"infer", "inference", "apply", "prediction"});
  registry.add<ExportWeights>("export", "weights of a model as safetensors, named as PyTorch names them")
      .synonyms({"safetensors", "export_weights", "state_dict", "save"});
  registry.add<Compress>("compress", "a trained network as products of smaller layers, within a part of its time")
      .synonyms({"low_rank", "factorise", "tucker", "svd", "prune"});
  registry.add<tune::TuneTask>("tune", "search over values of a stage train that are written !choice [a, b]")
      .synonyms({"hyperparameters", "hpo", "optuna", "tpe", "grid_search"});
  registry.add<TrainedMlp>("mlp", "fully connected network for regression or classification")
      .synonyms(
          {"dense", "fully_connected", "feed_forward", "feedforward", "ffn", "perceptron", "multilayer_perceptron"});
  registry.add<Sgd>("sgd", "stochastic gradient descent with momentum")
      .synonyms({"gradient_descent", "momentum", "nesterov", "msgd"});
  registry.add<Adam>("adam", "mean and mean square of the gradient").synonyms({"amsgrad", "adagrad"});
  registry.add<AdamW>("adamw", "Adam with decoupled weight decay").synonyms({"adam_w", "decoupled_adam"});
  registry.add<NAdam>("nadam", "Adam with Nesterov's momentum").synonyms({"nesterov_adam"});
  registry.add<RmsProp>("rmsprop", "gradient over the root of its mean square").synonyms({"rms_prop", "rms"});
  registry.add<Lion>("lion", "sign of the momentum, with decoupled weight decay").synonyms({"evolved_sign", "signsgd"});
  registry.add<Muon>("muon", "orthogonalised momentum of matrices, AdamW for vectors")
      .synonyms({"newton_schulz", "orthogonal"});
  registry.add<ScheduleFreeAdamW>("schedule_free_adamw", "AdamW that averages its weights, at a constant learning rate")
      .synonyms({"schedule_free", "schedulefree", "adamw_schedule_free"});
  registry.add<Soap>("soap", "Adam in the eigenbasis of Shampoo's preconditioner")
      .synonyms({"shampoo", "second_order", "preconditioned"});
  registry.add<Lbfgs>("lbfgs", "limited-memory BFGS on the full batch").synonyms({"l_bfgs", "bfgs", "quasi_newton"});
  registry.add<Lars>("lars", "SGD with a rate for every tensor, for large batches");
  registry.add<Lamb>("lamb", "Adam with a rate for every tensor, for large batches");
  registry.add<SplitSgd>("split_sgd", "SGD on bfloat16 weights whose lower bits are optimizer state");
  registry.add<SplitAdamW>("split_adamw", "AdamW on bfloat16 weights whose lower bits are optimizer state");
  registry.add<ConstantRate>("constant", "the same rate at every step").synonyms({"fixed"});
  registry.add<LinearRate>("linear", "straight from start to stop").synonyms({"ramp", "linear_decay", "warmup"});
  registry.add<PolynomialRate>("polynomial", "from start to stop by a power of the remaining fraction of the run")
      .synonyms({"poly", "polynomial_decay", "power"});
  registry.add<ExponentialRate>("exponential", "in stairs of equal ratio from start to stop (DeePMD-kit's decay)")
      .synonyms({"exp", "exponential_decay", "decay"});
  registry.add<StepRate>("step", "multiplied by a factor at given steps")
      .synonyms({"steps", "step_lr", "multistep", "multi_step", "milestones", "piecewise"});
  registry.add<CosineRate>("cosine", "half a cosine from start to stop")
      .synonyms({"cosine_annealing", "cosine_decay", "cos"});
  registry.add<StableRate>("wsd", "constant, then falling over the last steps (warm-up-stable-decay)")
      .synonyms({"warmup_stable_decay", "stable", "trapezoidal", "cooldown"});
  registry.add<PlateauRate>("reduce_on_plateau", "multiplied by a factor when validation no longer improves")
      .synonyms({"plateau", "reduce_lr_on_plateau", "on_plateau"});
  registry.add<SequenceRate>("sequence", "schedules one after the other").synonyms({"sequential", "chain", "warmup"});
}

}  // namespace cambium::train
