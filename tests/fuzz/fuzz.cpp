// Damaged files: every deck, structure, model, matrix, checkpoint and table that ships or that a run writes is damaged
// in ways that are addressed by (seed, subject, number), and given to what reads it. A case is a finding when the
// reader crashes, calls it an internal error, takes more than --seconds or more than --gigabytes of memory. What it
// says otherwise is up to it.
//
//   fuzz SOURCE SCRATCH [--cases N] [--seed S] [--subject PART] [--number K] [--list]
//
// Findings are named by subject and number; `--subject NAME --number K` does one again and leaves its file in
// SCRATCH/case.
#include <mpi.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "core/parallel/kokkos.hpp"
#include "core/parallel/start_mpi.hpp"
#include "core/run/failure.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/subjects.hpp"

namespace fs = std::filesystem;
using fuzz::Subject;

namespace {

struct Options {
  fs::path source, scratch;
  long cases = 2000, number = -1;
  std::uint64_t seed = 1;
  std::string subject;
  double seconds = 10.0, gigabytes = 2.0;
  bool list = false;
};

struct Case {
  std::size_t subject;
  long number;
};

std::uint64_t hash(const std::string& text, std::uint64_t h = 1469598103934665603ull) {
  for (const unsigned char c : text) h = (h ^ c) * 1099511628211ull;
  return h;
}

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

/// Files that carry a checksum behind their end lose it half of the time, or nothing but the checksum is ever read.
std::string unsealed(std::string whole, fuzz::Random& random) {
  constexpr std::size_t trailer = 32;
  const bool sealed = whole.size() > trailer && whole.compare(whole.size() - trailer, 12, "Cambium seal") == 0;
  if (sealed && fuzz::below(random, 2)) whole.resize(whole.size() - trailer);
  return whole;
}

/// The case's own folder with the damaged file.
void prepare(const Subject& subject, long number, std::uint64_t seed, const fs::path& folder) {
  fs::remove_all(folder);
  fs::copy(subject.folder, folder, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fuzz::Random random(hash(subject.name) ^ (seed * 0x9e3779b97f4a7c15ull) ^ static_cast<std::uint64_t>(number));
  random.discard(8);
  const fs::path file = folder / subject.file;
  if (subject.form == Subject::Form::h5 && fuzz::below(random, 3)) return fuzz::mutate_h5(file, random);
  const std::string whole = unsealed(content(file), random);
  const bool text = subject.form == Subject::Form::text;
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      << (text ? fuzz::mutate_text(whole, random) : fuzz::mutate_bytes(whole, random));
}

void limit(int what, rlim_t most) {
  rlimit now{};
  getrlimit(what, &now);
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(what, &now);
}

std::size_t memory_now() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int act(const Subject& subject) {
  try {
    return subject.act();
  } catch (...) {
    const auto failure = cambium::failure_of(std::current_exception());
    std::fprintf(stderr, "%s\n", failure.text.c_str());
    return static_cast<int>(failure.code);
  }
}

struct Message {
  long index;
  int code;  ///< -1: begins
};

bool good(int code) { return code == 0 || code == 2 || code == 3 || code == 4; }

/// What a case said that ended badly.
fs::path kept(const Options& options, std::size_t index) {
  return options.scratch / ("said_" + std::to_string(index) + ".txt");
}

/// In the child: cases one after the other until they are done or one ends the process.
void work(const std::vector<Subject>& subjects, const std::vector<Case>& cases, std::size_t first, std::size_t last,
          const Options& options, int pipe) {
  const fs::path folder = options.scratch / "case", said = options.scratch / "said.txt";
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 256u << 20);
  std::signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_AS, memory_now() + static_cast<rlim_t>(options.gigabytes * (1u << 30)));
  for (std::size_t k = first; k < last; ++k) {
    const Message begins{static_cast<long>(k), -1};
    if (write(pipe, &begins, sizeof begins) < 0) _exit(1);
    const Subject& subject = subjects[cases[k].subject];
    prepare(subject, cases[k].number, options.seed, folder);
    if (std::freopen(said.c_str(), "w", stderr) == nullptr) _exit(1);
    fs::current_path(folder);
    const int code = act(subject);
    fs::current_path(options.scratch);
    std::fflush(stderr);
    // The next case writes over what this one said; the parent may look later.
    if (good(code))
      fs::remove(kept(options, k));
    else
      fs::copy_file(said, kept(options, k), fs::copy_options::overwrite_existing);
    const Message ends{static_cast<long>(k), code};
    if (write(pipe, &ends, sizeof ends) < 0) _exit(1);
  }
  _exit(0);
}

template <class Action>
pid_t child(Action action) {
  std::cout.flush();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  int none = 1;
  char name[] = "fuzz", *words[] = {name, nullptr}, **list = words;
  cambium::start_mpi(&none, &list);
  Kokkos::initialize(none, list);
  action();
  _exit(0);
}

/// Subjects know how they are acted on in this process; what they need is made by a child, since only children start
/// MPI.
std::vector<Subject> subjects_of(const fuzz::Places& places) {
  std::vector<Subject> out;
  fuzz::core_subjects(places, out);
#ifdef FUZZ_DEEPMD
  fuzz::deepmd_subjects(places, out);
#endif
#ifdef FUZZ_KINETIC
  fuzz::kinetic_subjects(places, out);
#endif
#ifdef FUZZ_PODLSTM
  fuzz::podlstm_subjects(places, out);
#endif
#ifdef FUZZ_SUBMATRIX
  fuzz::submatrix_subjects(places, out);
#endif
#ifdef FUZZ_SUPERRES
  fuzz::superres_subjects(places, out);
#endif
  return out;
}

std::vector<Case> cases_of(const std::vector<Subject>& subjects, const Options& options) {
  std::vector<Case> out;
  long whole = 0, wanted = 0;
  for (std::size_t s = 0; s < subjects.size(); ++s)
    if (options.subject.empty() || subjects[s].name.find(options.subject) != std::string::npos)
      whole += subjects[s].weight;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    if (!options.subject.empty() && subjects[s].name.find(options.subject) == std::string::npos) continue;
    if (options.number >= 0) {
      out.push_back({s, options.number});
      continue;
    }
    const long before = options.cases * wanted / whole;
    wanted += subjects[s].weight;
    for (long k = 0; k < options.cases * wanted / whole - before; ++k) out.push_back({s, k});
  }
  return out;
}

/// What ended a child, in words; empty when it was its work's end.
std::string ending(pid_t pid, bool late, double seconds) {
  int status = 0;
  if (late) kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  if (late) return "takes more than " + std::to_string(static_cast<int>(seconds)) + " s";
  if (WIFSIGNALED(status)) return std::string("ended by a signal: ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "ends the process with " + std::to_string(WEXITSTATUS(status));
}

class Campaign {
 public:
  Campaign(const std::vector<Subject>& subjects, std::vector<Case> cases, const Options& options)
      : subjects_(subjects), cases_(std::move(cases)), options_(options) {}

  int run() {
    constexpr std::size_t at_once = 400;  // so that a process which grows does not grow for ever
    for (std::size_t next = 0; next < cases_.size();) next = batch(next, std::min(next + at_once, cases_.size()));
    for (const auto& [code, count] : codes_) std::cout << "ended with " << code << ": " << count << "\n";
    std::cout << cases_.size() << " cases with seed " << options_.seed << ", " << findings_ << " findings\n";
    return findings_ ? 1 : 0;
  }

 private:
  /// Number of the case to go on with.
  std::size_t batch(std::size_t first, std::size_t last) {
    int ends[2];
    if (pipe(ends) != 0) return last;
    const pid_t pid = child([&] {
      close(ends[0]);
      work(subjects_, cases_, first, last, options_, ends[1]);
    });
    close(ends[1]);
    std::size_t open = first;
    bool late = false, begun = false;
    const auto patience = [&] { return static_cast<int>(1000 * (begun ? options_.seconds : 60.0)); };
    while (true) {
      pollfd waiting{ends[0], POLLIN, 0};
      if (poll(&waiting, 1, patience()) == 0) {
        late = true;
        break;
      }
      Message message{};
      if (read(ends[0], &message, sizeof message) != sizeof message) break;
      begun = true;
      open = static_cast<std::size_t>(message.index) + (message.code < 0 ? 0 : 1);
      if (message.code >= 0) finished(static_cast<std::size_t>(message.index), message.code);
    }
    close(ends[0]);
    const std::string why = ending(pid, late, options_.seconds);
    if (open >= last) return last;
    finding(cases_[open], why.empty() ? "left without a word" : why);
    return open + 1;
  }

  void finished(std::size_t index, int code) {
    ++codes_[code];
    if (options_.number >= 0) std::cout << content(options_.scratch / "said.txt");
    if (!good(code))
      finding(cases_[index],
              "ends with " + std::to_string(code) + ": " + content(kept(options_, index)).substr(0, 400));
  }

  void finding(const Case& one, const std::string& what) {
    ++findings_;
    std::cout << "FINDING --seed " << options_.seed << " --subject " << subjects_[one.subject].name << " --number "
              << one.number << "\n  " << what << std::endl;
  }

  const std::vector<Subject>& subjects_;
  std::vector<Case> cases_;
  const Options& options_;
  std::map<int, long> codes_;
  long findings_ = 0;
};

Options read_options(int argc, char** argv) {
  Options o;
  if (argc < 3)
    throw std::runtime_error(
        "usage: fuzz SOURCE SCRATCH [--cases N] [--seed S] [--subject PART] [--number K] [--list]");
  o.source = fs::absolute(argv[1]);
  o.scratch = fs::absolute(argv[2]);
  for (int k = 3; k < argc; ++k) {
    const std::string word = argv[k], value = k + 1 < argc ? argv[k + 1] : "";
    if (word == "--cases")
      o.cases = std::stol(value), ++k;
    else if (word == "--seed")
      o.seed = std::stoull(value), ++k;
    else if (word == "--subject")
      o.subject = value, ++k;
    else if (word == "--number")
      o.number = std::stol(value), ++k;
    else if (word == "--seconds")
      o.seconds = std::stod(value), ++k;
    else if (word == "--gigabytes")
      o.gigabytes = std::stod(value), ++k;
    else if (word == "--list")
      o.list = true;
    else
      throw std::runtime_error("unknown option " + word);
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = read_options(argc, argv);
    fs::remove_all(options.scratch);
    fs::create_directories(options.scratch);
    const fuzz::Places places{options.source, options.scratch / "made"};
    // The runs whose files are damaged are made once, by a child; the list itself holds no state and is made again from
    // what lies there.
    std::vector<Subject> subjects;
    const auto begun = std::chrono::steady_clock::now();
    fs::current_path(options.scratch);
    const pid_t maker = child([&] {
      try {
        subjects_of(places);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
    });
    if (const auto why = ending(maker, false, 0); !why.empty())
      throw std::runtime_error("the subjects cannot be made: " + why);
    subjects = subjects_of(places);
    if (options.list)
      for (const auto& subject : subjects) std::cout << subject.name << " " << subject.weight << "\n";
    if (options.list) return 0;
    const int result = Campaign(subjects, cases_of(subjects, options), options).run();
    std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() << " s\n";
    return result;
  } catch (const std::exception& error) {
    std::cerr << "fuzz: " << error.what() << "\n";
    return 2;
  }
}
