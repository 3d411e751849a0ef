#pragma once
#include <string>
#include <vector>

#include "apps/cambium/doctor/findings.hpp"
#include "core/plugin/registry.hpp"

/// The parts of the page, in their order. All are collective.
namespace cambium::doctor {

/// Back ends, libraries, plugins, and the memory space of data.
void report_build(const Registry& registry, Context& context, Findings& findings);

/// The ranks of one machine, that is, of one shared memory.
struct Machines {
  explicit Machines(const Comm& comm);
  Comm here;       ///< this machine's ranks
  int number = 0;  ///< of this machine, from 0
  int count = 1;   ///< of all machines
};

/// Ranks, cores, threads, memory, shared memory and clocks.
void check_machines(const Machines& machines, Context& context, Findings& findings);

/// Free space, speed and locks of the directory of runs, and whether every rank sees it. `scratch` is inside it.
void check_directory(const std::string& scratch, const Machines& machines, Context& context, Findings& findings);

/// Messages, linear algebra, transforms, random numbers, compared with their exact results.
void check_numbers(Context& context, Findings& findings);

/// Small simulations by the first one or two ranks of every machine, compared with theory.
void check_decks(const std::string& scratch, const Machines& machines, Registry& registry, Context& context,
                 Findings& findings);

}  // namespace cambium::doctor
