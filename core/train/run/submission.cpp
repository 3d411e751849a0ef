#include "core/train/run/submission.hpp"

namespace cambium::train {

void Submission::describe(deck::Describe<Submission>& d) {
  d("benchmark", &Submission::benchmark,
    "name of the task; cosmoflow, deepcam, oc20 and openfold have rules of their own")
      .def("other");
  d("organisation", &Submission::organisation, "organisation that submits");
  d("platform", &Submission::platform, "name of the system");
  d("division", &Submission::division, "MLPerf division: closed, the benchmark's own network and keys; open, others")
      .options({"open", "closed"})
      .def("open");
  d("status", &Submission::status, "availability status of the system")
      .options({"cloud", "onprem", "preview", "research"})
      .def("research");
  d("nodes", &Submission::nodes, "number of nodes used").at_least(1).def(1);
  d("accelerators_per_node", &Submission::accelerators_per_node,
    "number of accelerators per node; 0 for training on CPUs")
      .at_least(0)
      .def(0);
  d("caches_cleared", &Submission::caches_cleared,
    "true if the file system caches were cleared before this run, as the rules require; this cannot be detected")
      .def(false);
}

void Submission::log(MlLog& log) const {
  log.event("submission_benchmark", benchmark);
  log.event("submission_org", organisation);
  log.event("submission_platform", platform);
  log.event("submission_division", division);
  log.event("submission_status", status);
  log.event("number_of_nodes", nodes);
  log.event("accelerators_per_node", accelerators_per_node);
  if (caches_cleared) log.event("cache_clear", true);
}

}  // namespace cambium::train
