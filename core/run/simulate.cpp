#include "core/run/simulate.hpp"

#include "core/base/recorder.hpp"
#include "core/plugin/check.hpp"
#include "core/run/loop.hpp"

namespace cambium {

void Simulate::Thermo::describe(deck::Describe<Thermo>& d) {
  d("every", &Thermo::every, "number of steps between two lines of observables").at_least(1).def(100);
}

void Simulate::Checkpoint::describe(deck::Describe<Checkpoint>& d) {
  describe_in(d);
  d("transfer", &Checkpoint::transfer,
    "output of distributed rows: sent to rank 0 (gather), or written by all ranks at once if HDF5 was built with MPI "
    "(collective)")
      .options({{"gather", io::Transfer::gather}, {"collective", io::Transfer::collective}})
      .def(io::Transfer::gather);
  d("asynchronous", &Checkpoint::asynchronous,
    "asynchronous output: rank 0 buffers the finished file in memory, and a thread writes it to disk during the next "
    "steps; requires transfer: gather")
      .def(false);
  d("at_end", &Checkpoint::at_end, "write a checkpoint at the end of the stage, from which it can be continued")
      .def(true);
  d("compress", &Checkpoint::compress,
    "compression of real arrays: {type: lossless} resumes bitwise identically; with an error bound a resumed run "
    "differs from an uninterrupted one; not with asynchronous: true");
}

void Simulate::Params::describe(deck::Describe<Params>& d) {
  d.inline_choice("physics", &Params::physics, "physics type, the equations of motion");
  d("steps", &Params::steps, "number of time steps; optional if the physics defines its own end").at_least(0);
  d("thermo", &Params::thermo, "table of observables");
  d("checkpoint", &Params::checkpoint, "files from which the run can be resumed");
  d("output", &Params::output, "writers of the state as it advances").def({});
}

void Simulate::examine(Check& check) {
  loop_ = std::make_unique<Loop>(params_, check.context());
  if (check.stage().tried) loop_->report_plan();
  loop_->examine(check);
}

Simulate::Simulate(const Params& params, Context&) : params_(params) {}

Simulate::~Simulate() = default;

Task::Outcome Simulate::run(Context& context) {
  {
    const Region region("make the physics", WorkKind::host);
    loop_ = std::make_unique<Loop>(params_, context);
  }
  return loop_->run();
}

Task::Work Simulate::work() const { return loop_->work(); }

std::vector<Result> Simulate::results() const { return loop_->results(); }

std::vector<std::string> Simulate::lines() const { return loop_->lines(); }

std::vector<std::string> Simulate::files() const { return loop_->files(); }

std::vector<Citation> Simulate::citations() const { return loop_->citations(); }

}  // namespace cambium
