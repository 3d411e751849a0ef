#include "core/train/run/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/recorder.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/summary/stage_summary.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

void Train::Validate::describe(deck::Describe<Validate>& d) {
  d("every", &Validate::every, "steps between two validations").at_least(1).def(100);
  d("keep_best", &Validate::keep_best,
    "write best.h5 whenever the weighted sum of metrics improves, and export that model at the end")
      .def(true);
  d("metric_weights", &Validate::measure,
    "weights of the validation metrics, in printed order, in the sum that model selection minimises; default: the "
    "first metric only. Metrics that are better when higher enter with the opposite sign")
      .formerly("measure")
      .def({1.0});
  d("patience", &Validate::patience,
    "validations without improvement of the weighted sum of metrics after which training ends; 0 for never")
      .at_least(0)
      .def(0);
  d("batch", &Validate::batch, "samples evaluated at a time").at_least(1).def(8);
  d("target", &Validate::target,
    "target value of the validation metric named by 'target_metric': training ends when the metric reaches it (from "
    "above "
    "for errors, from below for scores); the summary and the MLPerf log (mllog) report success only then");
  d("target_metric", &Validate::quality,
    "name of the validation metric that 'target' refers to; default: the first one")
      .formerly("quality")
      .def("");
  d.check([](const Validate& v) -> std::string {
    const bool weighed = std::any_of(v.measure.begin(), v.measure.end(), [](double weight) { return weight != 0.0; });
    return weighed ? "" : "all metric_weights are 0, so that no model is better than another; give one that is not";
  });
}

/// Hint for a start_from that PyTorch reads, but not this program; else empty.
static std::string foreign_start(const std::string& file) {
  for (const char* ending : {".pt", ".pth", ".ckpt", ".bin"})
    if (file.ends_with(ending))
      return fmt::format(
          "start_from: '{}' is a file of PyTorch; write its weights as safetensors "
          "(safetensors.torch.save_file(module.state_dict(), \"weights.safetensors\")), or train its module by the "
          "network torch_script",
          file);
  return {};
}

static std::string conflict_of(const Train::Params& p) {
  if (p.steps.has_value() == p.epochs.has_value()) return "give one of: steps, epochs";
  if (p.validation && p.hold_out > 0.0)
    return "give one of: validation (a data set), hold_out (a fraction of the training set)";
  if (p.reduce.mode == ReduceParams::Mode::ordered && p.accumulate > 1)
    return "gradient_accumulation_steps does nothing in ordered mode, where reduce.micro_batches cuts the batch; "
           "remove it";
  if (p.reduce.mode == ReduceParams::Mode::ordered && p.activations &&
      p.activations->keep == ActivationParams::Keep::compressed && p.activations->bound == 0.0)
    return "bounds of compressed activations follow from what each rank computes, but ordered mode guarantees equal "
           "bits for any number of ranks; give activations one bound, or remove it";
  if (p.submission && !p.mllog)
    return "submission is written to the lines of mllog; set mllog: true, or remove submission";
  const bool validates = p.validation || p.hold_out > 0.0;
  if (p.validate.target && !validates)
    return "validate.target needs validations; give validation (a data set) or hold_out";
  if (p.validate.patience > 0 && !validates)
    return "validate.patience counts validations; give validation (a data set) or hold_out";
  if (p.parallel && p.reduce.lossy)
    return "parallel cuts messages where ranks' parts end and needs their lengths before, which are not fixed with "
           "reduce.lossy; take reduce.codec bf16, int8 or int4";
  if (p.direct && p.gradient_norms)
    return "quantized_training drops each tensor's gradient once it is used, so that gradient_norms has none; remove "
           "one of them";
  if (p.direct && p.average)
    return "ema keeps a second copy of the weights in full, which quantized_training does without; remove one of them";
  return foreign_start(p.start_from);
}

/// Keys of the log, and of what stops a training that diverges.
static void describe_log(deck::Describe<Train::Params>& d) {
  d("log_every", &Train::Params::log, "steps between two lines of the training loss")
      .formerly("log")
      .at_least(1)
      .def(100);
  d("tensorboard", &Train::Params::tensorboard,
    "write the losses, metrics and learning rate as a TensorBoard event file, too (events.out.tfevents.cambium)")
      .def(false);
  d("gradient_norms", &Train::Params::gradient_norms,
    "write the norm of the gradient of each module of the network, before it is bounded, whenever the loss is logged "
    "(gradient_norms.csv)")
      .def(false);
  d("loss_spikes", &Train::Params::loss_spikes,
    "write the batch and the state of steps with a spike of the loss (spike.<step>.h5); default: none");
  d("divergence_factor", &Train::Params::explode,
    "ratio of the loss to its first values above which training counts as diverged")
      .formerly("explode")
      .greater_than(1.0)
      .def(1e4);
}

void Train::Params::describe(deck::Describe<Params>& d) {
  d("network", &Params::network, "network to train").formerly("model");
  d("dataset", &Params::dataset, "samples to train on");
  d("validation", &Params::validation, "validation data set, which is never trained on");
  d("hold_out", &Params::hold_out,
    "fraction of the training set that is held out for validation, instead of a validation set")
      .range(0.0, 0.9)
      .def(0.0);
  d("loader", &Params::loader, "data loader").def("shuffle");
  d("permutation", &Params::permutation,
    "shuffled order of an epoch: stored on every rank, or computed for each sample, for data sets whose order does not "
    "fit in memory; the two orders differ")
      .options({{"stored", BatchPlan::Permutation::stored}, {"computed", BatchPlan::Permutation::computed}})
      .def(BatchPlan::Permutation::stored);
  d("augment", &Params::augment,
    "data augmentation: random transformations of the training samples, one after the other, drawn again in every "
    "step; samples for validation are not transformed")
      .def({});
  d("batch", &Params::batch, "global batch size: samples per step, summed over ranks; default: the full training set")
      .at_least(1);
  d("steps", &Params::steps, "number of optimizer steps").at_least(1);
  d("epochs", &Params::epochs, "number of passes over the training set, instead of steps").positive();
  d("gradient_accumulation_steps", &Params::accumulate,
    "gradient accumulation steps: micro-batches into which each rank splits its part of a batch, to save memory")
      .formerly("accumulate")
      .at_least(1)
      .def(1);
  describe_update(d);
  d("parallel", &Params::parallel,
    "sharding of weights, gradients and optimizer states over ranks (ZeRO); default: replicated on every rank");
  d("quantized_training", &Params::direct,
    "direct quantised training: matrices of linear layers are stored as int8 or ternary values and updated without a "
    "full-precision copy")
      .formerly("direct");
  d("tables", &Params::tables, "sharding and optimizer of embedding tables, for networks that have them");
  d("activations", &Params::activations,
    "storage of activations between forward and backward pass, such as activation checkpointing (recomputed); default: "
    "kept in full");
  d("validate", &Params::validate, "validation, best model, early stopping");
  d("checkpoint", &Params::checkpoint, "files from which training can be resumed");
  describe_log(d);
  d("start_from", &Params::start_from,
    "model file (model.h5), or weights as .safetensors, that training begins with; statistics are those of the file, "
    "if it has some, else of the data set")
      .def("");
  d("seed", &Params::seed, "seed of initial weights and sample order; default: that of the run").at_least(0);
  d("ensemble_size", &Params::models,
    "number of networks, trained one after the other with seeds seed, seed + 1, ..., in folders model_1, model_2, ...")
      .formerly("models")
      .at_least(1)
      .def(1);
  d("mllog", &Params::mllog, "print :::MLLOG lines, which `cambium suite check` compares with the rules of MLPerf HPC")
      .def(false);
  d("submission", &Params::submission, "MLPerf submission metadata in the log: submitter, platform and division");
  d.check(conflict_of);
}

Train::Train(const Params& params, Context&) : params_(params) {}

Train::~Train() = default;

/// Announces files, for each member of a committee in its folder.
static void promise(const std::vector<Promise>& files, int models, Check& check) {
  for (const auto& file : files)
    for (int member = 0; member < models; ++member) {
      Promise own = file;
      if (models > 1) own.name = fmt::format("model_{}/{}", member + 1, file.name);
      check.will_write(own);
    }
}

void Train::examine(Check& check) {
  if (check.stage().tried) Trainer(params_, check.context()).report_plan();
  const auto fields = examine_training(params_, check.stage().keys, check);
  std::vector<Promise> files = std::move(check.stage().promises);
  check.stage().promises.clear();
  const Origin network{Origin::network, params_.network.type};
  files.push_back({"model.h5", network, fields});
  const bool validates = params_.validation || params_.hold_out > 0.0;
  if (validates && params_.validate.keep_best) files.push_back({"best.h5", network, fields});
  for (const char* name : {"training.csv", "training.h5"}) files.push_back({name, {Origin::stage, "train"}});
  if (validates)
    for (const char* name : {"validation.csv", "validation.h5"})  // learning_curve.*: for networks with a held-out loss
      files.push_back({name, {Origin::stage, "train"}});
  const auto every = params_.checkpoint.every;
  if (every > 0 && every <= params_.steps.value_or(every)) files.push_back({"restart.*.h5", {Origin::stage, "train"}});
  promise(files, params_.models, check);
}

static std::string member_folder(int member) { return fmt::format("model_{}", member + 1); }

/// A finished member leaves a marker file, so a restart continues with the first unfinished one.
Task::Outcome Train::run_committee(Context& context) {
  namespace fs = std::filesystem;
  for (int member = 0; member < params_.models; ++member) {
    Context own = context;
    own.run_directory = (fs::path(context.run_directory) / member_folder(member)).string();
    const auto finished = (fs::path(own.run_directory) / "finished.txt").string();
    bool skip = false;
    io::on_root(context.comm, [&] {
      refuse_link(own.run_directory);
      fs::create_directories(own.run_directory);
      if (!context.resume) fs::remove(finished);
      skip = fs::exists(finished);
    });
    begun_ = member + 1;
    if (context.comm.max(skip ? 1 : 0) == 1) continue;
    context.log.info(fmt::format("\nmodel {} of {} -> {}", member + 1, params_.models, own.run_directory));
    Trainer trainer(params_, own, member);
    const auto outcome = trainer.run();
    print_stage_summary(stage_summary_of(trainer), own);
    cited_ = trainer.citations();
    if (outcome == Outcome::stopped_early) return outcome;
    io::on_root(context.comm, [&] { io::write_file_atomically(finished, "finished\n"); });
  }
  context.timing.reset();  // each member has printed its own table
  return Outcome::done;
}

Task::Outcome Train::run(Context& context) {
  if (params_.models > 1) return run_committee(context);
  {
    const Region region("make the training", WorkKind::host);
    trainer_ = std::make_unique<Trainer>(params_, context);
  }
  return trainer_->run();
}

Task::Work Train::work() const { return trainer_ ? trainer_->work() : Work{begun_, "model"}; }

std::vector<Result> Train::results() const { return trainer_ ? trainer_->results() : std::vector<Result>{}; }

std::vector<std::string> Train::lines() const { return trainer_ ? trainer_->lines() : std::vector<std::string>{}; }

std::vector<std::string> Train::files() const {
  if (trainer_) return trainer_->files();
  std::vector<std::string> out;
  for (int member = 0; member < begun_; ++member) out.push_back(member_folder(member));
  return out;
}

std::vector<Citation> Train::citations() const { return trainer_ ? trainer_->citations() : cited_; }

}  // namespace cambium::train
