"""Logs of trainings for MLPerf HPC 3.0: of each benchmark and division one that keeps the rules, and each of its lines damaged in each way of DAMAGES."""
import copy
import json

START = 1_700_000_000_000
VALUES = (None, "", "x", True, False, -1, 0, 0.5, 1, 2, [], [1, 2], {}, "sgd", "Adam", 1e9)
COMMON = {"submission_org": "mine", "submission_platform": "laptop", "submission_status": "research", "cache_clear": True}
SIZES = {"global_batch_size": 32, "train_samples": 2000, "eval_samples": 200}
RATE = {"opt_base_learning_rate": 1e-3, "opt_learning_rate_warmup_factor": 4.0, "opt_learning_rate_decay_factor": [0.25, 0.0625]}
DEEPCAM = {"gradient_accumulation_frequency": 1, "seed": 5, "batchnorm_group_size": 1, "opt_lr": 2e-3, "opt_betas": [0.9, 0.999], "opt_eps": 1e-6,
           "scheduler_lr_warmup_steps": 0, "scheduler_lr_warmup_factor": 1.0, "train_samples": 121266, "eval_samples": 15158}
OPENFOLD = {"target_avg_lddt_ca_value": 0.8, "train_max_pdb_release_date": "2021-09-16", "val_min_cameo_submission_date": "2021-09-17",
            "val_max_cameo_submission_date": "2021-12-11", "val_max_sequence_length": 700, "val_every_iters": 40, "train_samples": 594595,
            "eval_samples": 180, "model_parameters_count": 93229082, "train_sequence_crop_size": 256, "num_recycling_iters": 3,
            "init_checkpoint_sha256sum": "b518be4677048f2c0f94889c91e2da73655a73b825a8aa7f8b6f5e580d8ffbed", "max_msa_clusters": 124,
            "max_extra_msa": 1024, "templates_enabled": True, "max_templates": 4, "fape_loss_weight": 1.0, "fape_loss_backbone_weight": 0.5,
            "fape_loss_sidechain_weight": 0.5, "supervised_chi_loss_weight": 1.0, "distogram_loss_weight": 0.3, "masked_msa_loss_weight": 2.0,
            "plddt_loss_weight": 0.01, "opt_name": "Adam", "opt_adam_beta_1": 0.9, "opt_adam_beta_2": 0.999, "opt_adam_epsilon": 1e-6,
            "opt_weight_decay": 0.0, "opt_amsgrad": False, "opt_gradient_clipping": True, "opt_gradient_clip_norm": 0.1, "swa_enabled": True,
            "swa_decay_rate": 0.9, "opt_base_learning_rate": 1e-3, "opt_learning_rate_warmup_init": 1e-5, "opt_learning_rate_warmup_steps": 0,
            "initial_training_dataloader_type": "InitialTrainingDataloaderPT"}
# benchmark: what it is judged by, a figure that is at the target, one that is not, and keys of the division closed in one or more ways
BENCHMARKS = {
    "cosmoflow": ("eval_error", 0.124, 0.3, {"": dict(RATE, opt_name="sgd", opt_learning_rate_warmup_epochs=2, dropout=0.5, opt_weight_decay=0.0,
                                                      opt_learning_rate_decay_boundary_epochs=[4, 6])}),
    "deepcam": ("eval_accuracy", 0.82, 0.7,
                {"adam": dict(DEEPCAM, opt_name="Adam", scheduler_type="multistep", scheduler_milestones=[], scheduler_decay_rate=0.1),
                 "lamb": dict(DEEPCAM, opt_name="LAMB", opt_bias_correction=True, opt_grad_averaging=True, opt_max_grad_norm=1.0,
                              scheduler_type="cosine_annealing", scheduler_t_max=9000, scheduler_eta_min=0.0)}),
    "oc20": ("eval_error", 0.036, 0.2, {"": dict(RATE, opt_name="AdamW", opt_learning_rate_warmup_steps=10, opt_learning_rate_decay_boundary_steps=[])}),
    "openfold": ("eval_accuracy", 0.8, 0.5, {"": OPENFOLD}),
}


class Log:
    """Lines in order, a second apart."""

    def __init__(self):
        self.lines = []

    def add(self, key, value=None, event="POINT_IN_TIME", **metadata):
        self.lines.append({"namespace": "", "time_ms": START + 1000 * len(self.lines), "event_type": event, "key": key, "value": value, "metadata": metadata})
        return self

    def begin(self, key, **metadata):
        return self.add(key, None, "INTERVAL_START", **metadata)

    def end(self, key, **metadata):
        return self.add(key, None, "INTERVAL_END", **metadata)

    def text(self):
        return "".join(line if isinstance(line, str) else ":::MLLOG " + json.dumps(line) + "\n" for line in self.lines)

    def where(self, key):
        return [k for k, line in enumerate(self.lines) if line["key"] == key]


def good(benchmark, division, way, blocks=False):
    figure, reached, missed, keys = BENCHMARKS[benchmark]
    log = Log()
    for key, value in dict(COMMON, submission_benchmark=benchmark, submission_division=division, number_of_nodes=1, accelerators_per_node=0).items():
        log.add(key, value)
    log.begin("init_start").begin("staging_start").end("staging_stop")
    for key, value in dict(SIZES, **(keys[way] if division == "closed" else {})).items():
        log.add(key, value)
    if division == "closed":
        log.add("gradient_accumulation_steps", 1)
    log.end("init_stop").begin("run_start")
    for epoch in (1, 2):
        if blocks:
            log.begin("block_start", first_epoch_num=epoch, epoch_count=1)
        else:
            log.begin("epoch_start", epoch_num=epoch).end("epoch_stop", epoch_num=epoch).begin("eval_start", epoch_num=epoch)
        log.add(figure, missed if epoch == 1 else reached, epoch_num=epoch)
        if blocks:
            log.end("block_stop", first_epoch_num=epoch)
        else:
            log.end("eval_stop", epoch_num=epoch)
    return log.end("run_stop", status="success")


def without(log, key):
    log.lines = [line for line in log.lines if line["key"] != key]


def again(log, key, value="of the first"):
    k = log.where(key)[0]
    log.lines.insert(k + 1, dict(log.lines[k], value=log.lines[k]["value"] if value == "of the first" else value))


def moved(log, key, to):
    """The first line of a key, to the beginning or the end; times keep their order."""
    line = log.lines.pop(log.where(key)[0])
    log.lines.insert(0 if to == "first" else len(log.lines), line)
    for k, line in enumerate(log.lines):
        line["time_ms"] = START + 1000 * k


def changed(log, key, **parts):
    for k in log.where(key):
        log.lines[k].update(parts)


def dropped(log, key, part):
    del log.lines[log.where(key)[0]][part]


DAMAGES = [("removed", without), ("twice", again), ("twice, differing", lambda log, key: again(log, key, "another")),
           ("moved to the beginning", lambda log, key: moved(log, key, "first")), ("moved to the end", lambda log, key: moved(log, key, "last")),
           ("no metadata", lambda log, key: changed(log, key, metadata={})), ("metadata of others", lambda log, key: changed(log, key, metadata={"a": 1})),
           ("metadata null", lambda log, key: changed(log, key, metadata=None)),
           ("time as text", lambda log, key: changed(log, key, time_ms=str(START + 5000))), ("time no number", lambda log, key: changed(log, key, time_ms="now")),
           ("no value", lambda log, key: dropped(log, key, "value")), ("no metadata entry", lambda log, key: dropped(log, key, "metadata")),
           ("no time", lambda log, key: dropped(log, key, "time_ms")), ("no event", lambda log, key: dropped(log, key, "event_type"))]
DAMAGES += [("value " + json.dumps(value), lambda log, key, value=value: changed(log, key, value=value)) for value in VALUES]


def edges(benchmark, division, way):
    """Whole logs beside rules that lie between lines."""
    figure, reached, missed, _ = BENCHMARKS[benchmark]
    out = {"good": good(benchmark, division, way), "blocks": good(benchmark, division, way, blocks=True)}

    def case(name, change):
        out[name] = copy.deepcopy(out["good"])
        change(out[name])
    case("epoch open at the end", lambda log: log.lines.pop(log.where("epoch_stop")[-1]))
    case("evaluation open at the end", lambda log: log.lines.pop(log.where("eval_stop")[-1]))
    case("aborted at the target", lambda log: changed(log, "run_stop", metadata={"status": "aborted"}))
    case("another status", lambda log: changed(log, "run_stop", metadata={"status": "killed"}))
    case("half an hour", lambda log: changed(log, "init_start", time_ms=log.lines[log.where("init_stop")[0]]["time_ms"] - 1800000))
    case("less than half an hour", lambda log: changed(log, "init_start", time_ms=log.lines[log.where("init_stop")[0]]["time_ms"] - 1799999))
    case("resumed", lambda log: log.begin("run_start").end("run_stop", status="success"))
    case("initialised again", lambda log: log.begin("init_start").end("init_stop").begin("run_start").end("run_stop", status="success"))
    case("target not reached", lambda log: changed(log, figure, value=missed))
    case("target not reached, aborted", lambda log: (changed(log, figure, value=missed), changed(log, "run_stop", metadata={"status": "aborted"})))
    for share in (0.999, 1.001, -1.0, 10.0):
        case(f"figures of {share} of the target", lambda log, share=share: changed(log, figure, value=reached * share))
    case("one figure no number", lambda log: log.lines[log.where(figure)[0]].update(value="low"))
    case("one figure NaN", lambda log: log.lines[log.where(figure)[0]].update(value=float("nan")))
    case("all figures NaN", lambda log: changed(log, figure, value=float("nan")))
    case("infinite batch", lambda log: changed(log, "global_batch_size", value=float("inf")))
    case("unknown key", lambda log: log.add("loss", float("nan")))
    case("times fall", lambda log: changed(log, "run_stop", time_ms=START))
    case("block without count", lambda log: log.begin("block_start", first_epoch_num=3))
    case("block of no epochs", lambda log: log.begin("block_start", first_epoch_num=3, epoch_count=0))
    case("staging ends alone", lambda log: without(log, "staging_start"))
    case("no staging", lambda log: (without(log, "staging_start"), without(log, "staging_stop")))
    case("another benchmark", lambda log: changed(log, "submission_benchmark", value="resnet"))
    case("ends in the middle of a line", lambda log: log.lines.append(':::MLLOG {"namespace": '))
    case("behind other words", lambda log: log.lines.append('rank 0: :::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}\n'))
    case("token without blank", lambda log: log.lines.append(':::MLLOG{"time_ms": 1}\n'))
    case("no object", lambda log: log.lines.append(":::MLLOG [1]\n"))
    return out


def campaigns():
    """(name, benchmark, division, way)"""
    for benchmark, (_, _, _, keys) in BENCHMARKS.items():
        yield f"{benchmark}, open", benchmark, "open", next(iter(keys))
        for way in keys:
            yield ", ".join(word for word in (benchmark, "closed", way) if word), benchmark, "closed", way


def cases(benchmark, division, way):
    """Each (name, text) of a log and what was done to it."""
    for name, log in edges(benchmark, division, way).items():
        yield ("whole log", name), log.text()
    seen = []
    for line in good(benchmark, division, way).lines:
        if line["key"] in seen:
            continue
        seen.append(line["key"])
        for name, damage in DAMAGES:
            log = good(benchmark, division, way)
            damage(log, line["key"])
            yield (line["key"], name), log.text()
