//===- SimtPlanner.cpp - Choice of launches and tiles of simt ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SimtPlanner.h"
#include "SimtCost.h"
#include "SimtDirect.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/SimtPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns of a tile that are tried: lanes of a warp, and several times as
/// many, of which a thread has some that are as far apart.
static constexpr int64_t kColumns[] = {32, 64, 128, 256};

static GPUPlanAttr writePlan(MLIRContext *context, const SimtPlan &plan) {
  SmallVector<DictionaryAttr> launches;
  for (const SimtLaunch &launch : plan.launches) {
    SimtChoices choices;
    choices.factors = launch.steps.size();
    choices.extents = launch.extents.front();
    choices.ctasPerSM = launch.ctasPerSM;
    choices.directStore = launch.directStore;
    choices.factorBytes = launch.factorBytes;
    choices.directLoad = launch.directLoad;
    choices.lanesK = launch.lanesK;
    choices.vectorStore = launch.vectorStore;
    // Of all factors, or of none where they are what a plan without them has.
    auto write = [&](auto getValue, auto getDefault) {
      SmallVector<int64_t> values = llvm::map_to_vector(launch.steps, getValue);
      return values == llvm::map_to_vector(launch.steps, getDefault)
                 ? SmallVector<int64_t>()
                 : values;
    };
    choices.fibres = write([](const SimtStep &step) { return step.fibres; },
                           [](const SimtStep &) { return int64_t(1); });
    choices.results = write(
        [](const SimtStep &step) { return step.block; },
        [](const SimtStep &step) { return getEqualPart(step.tileResults); });
    PlanWriter writer(context, kSimtLaunch);
    SimtChoices::visitFields(writer, choices);
    launches.push_back(writer.getFields());
  }
  PlanWriter writer(context, GPUKernel::Simt);
  writer("threads", plan.threads);
  writer("launches", ArrayRef(launches));
  return writer.getPlan();
}

namespace {

/// A launch and the time that it is estimated to take.
struct TimedLaunch {
  SimtLaunch launch;
  double seconds;
};

/// The fastest launches of the first products, by their number.
struct Prefix {
  double seconds = 0;
  unsigned first = 0;
  SimtLaunch launch;
};

/// Launches of CTAs of as many threads.
struct ThreadSearch {
  int64_t threads;
  std::vector<std::optional<Prefix>> prefixes;
  /// Whether a launch of the products [first, end) had room for the last end.
  bool grows = true;
};

class Planner {
public:
  Planner(FusedOp fused, const GPUMachine &machine, const SimtChain &chain)
      : fused(fused), machine(machine), chain(chain),
        given(getGPUPlanAttr(fused)) {}

  std::variant<SimtPlan, std::string> run();

private:
  bool fits(SimtLaunch &launch, ArrayRef<int64_t> tile) const;
  bool chooseTile(SimtLaunch &launch, ArrayRef<unsigned> walk, int64_t columns,
                  int64_t elements) const;
  void chooseResident(const SimtCost &cost, SimtLaunch &launch, int64_t threads,
                      std::optional<TimedLaunch> &best) const;
  std::vector<SimtLaunch> getTiles(unsigned first, unsigned end) const;
  void extend(unsigned first, unsigned end,
              MutableArrayRef<ThreadSearch> searches) const;
  std::string getReason() const;

  FusedOp fused;
  const GPUMachine &machine;
  const SimtChain &chain;
  GivenPlan given;
  const SimtTiles &tiles = getGPUTiles(machine).simt;
};

} // namespace

/// Lays the buffers out for `tile`; false if they do not fit.
bool Planner::fits(SimtLaunch &launch, ArrayRef<int64_t> tile) const {
  setSimtTile(launch, tile);
  return !getSharedMemoryReason(launch.sharedBytes, /*ctasPerSM=*/1, machine);
}

/// Orders of axes in which tiles grow: from the innermost one on, as results
/// lie in memory, and as data do.
static SmallVector<SmallVector<unsigned>> getWalks(const SimtArrays &arrays) {
  SmallVector<SmallVector<unsigned>> walks{getMemoryWalk(arrays.output)};
  SmallVector<unsigned> ofInput = getMemoryWalk(arrays.input);
  if (ofInput != walks.front())
    walks.push_back(ofInput);
  return walks;
}

/// Extents of the axes of `walk` that are not contracted: up to `columns` of
/// the first one, so that memory is accessed in whole lines, then what makes a
/// tile of `elements`. False if not even single positions fit.
bool Planner::chooseTile(SimtLaunch &launch, ArrayRef<unsigned> walk,
                         int64_t columns, int64_t elements) const {
  SmallVector<int64_t> tile(launch.after.size(), 1);
  if (!fits(launch, tile))
    return false;
  int64_t wantedRows = given.get("tile"), wantedColumns = given.get("columns");
  int64_t rows = 1;
  auto *first = llvm::find_if(
      walk, [&](unsigned axis) { return launch.before[axis] != 1; });
  for (unsigned axis : walk) {
    if (launch.contracted[axis])
      continue;
    int64_t size = launch.after[axis];
    bool innermost = axis + 1 == tile.size();
    bool isFirst = first != walk.end() && axis == *first;
    int64_t limit = ShapedType::isDynamic(size) ? elements : size;
    if (innermost && wantedColumns)
      limit = std::min(limit, wantedColumns);
    else if (!innermost && wantedRows)
      limit = std::min(limit, std::max<int64_t>(wantedRows / rows, 1));
    else if (isFirst)
      limit = std::min(limit, columns);
    auto isEnough = [&](int64_t extent) {
      if (isFirst || (innermost ? wantedColumns : wantedRows))
        return extent >= limit;
      int64_t most = 0;
      for (ArrayRef<int64_t> extents : launch.extents)
        most = std::max(most, getTileElements(extents));
      return extent >= limit || most >= elements;
    };
    while (!isEnough(tile[axis])) {
      int64_t old = tile[axis];
      tile[axis] = std::min(2 * old, limit);
      if (!fits(launch, tile)) {
        tile[axis] = old;
        setSimtTile(launch, tile);
        break;
      }
    }
    if (!innermost)
      rows *= tile[axis];
  }
  return true;
}

/// Tries the CTAs that an SM has room for, of what `launch` takes of it, whose
/// steps may have any numbers of fibres and results.
void Planner::chooseResident(const SimtCost &cost, SimtLaunch &launch,
                             int64_t threads,
                             std::optional<TimedLaunch> &best) const {
  int64_t wanted = given.get("ctas_per_sm");
  if (getCtasReason(wanted, threads, machine))
    return;
  int64_t most =
      std::min({machine.sharedBytesPerSM /
                    (launch.sharedBytes + machine.reservedSharedBytesPerCTA),
                machine.maxThreadsPerSM / threads, machine.maxCTAsPerSM});
  for (int64_t ctas = 1; ctas <= std::max<int64_t>(most, 1); ++ctas) {
    launch.ctasPerSM = wanted ? wanted : ctas;
    double limit =
        best ? best->seconds : std::numeric_limits<double>::infinity();
    std::optional<double> seconds = cost.choose(launch, threads, limit);
    if (seconds && *seconds < limit) {
      // Parts of the results decide how large a factor is in shared memory.
      SimtLaunch tried = launch;
      if (fits(tried, tried.extents.front()))
        best = TimedLaunch{std::move(tried), *seconds};
    }
    if (wanted)
      return;
  }
}

/// Launches of products [first, end) with the tiles that are tried, whatever
/// their threads are.
std::vector<SimtLaunch> Planner::getTiles(unsigned first, unsigned end) const {
  std::vector<SimtLaunch> found;
  SimtArrays arrays = describeSimtArrays(fused, chain, first, end);
  SimtLaunch described =
      describeSimtLaunch(chain, first, end, tiles.factorBytes);
  for (bool direct : {false, true}) {
    described.directStore = direct;
    size_t own = found.size();
    for (ArrayRef<unsigned> walk : getWalks(arrays))
      for (int64_t columns : kColumns)
        for (int64_t elements = tiles.leastElements;
             elements <= tiles.mostElements; elements *= 2) {
          SimtLaunch launch = described;
          auto isSame = [&](const SimtLaunch &other) {
            return other.extents.front() == launch.extents.front();
          };
          if (chooseTile(launch, walk, columns, elements) &&
              llvm::none_of(ArrayRef(found).drop_front(own), isSame))
            found.push_back(std::move(launch));
        }
  }
  return found;
}

/// Adds the launches of products [first, end) to what `searches` have found.
void Planner::extend(unsigned first, unsigned end,
                     MutableArrayRef<ThreadSearch> searches) const {
  SimtArrays arrays = describeSimtArrays(fused, chain, first, end);
  std::vector<std::optional<TimedLaunch>> best(searches.size());
  for (SimtLaunch &launch : getTiles(first, end)) {
    SimtCost cost(arrays, launch, chain.element, machine);
    for (auto [search, fastest] : llvm::zip_equal(searches, best))
      if (search.grows)
        chooseResident(cost, launch, search.threads, fastest);
  }
  for (auto [search, fastest] : llvm::zip_equal(searches, best)) {
    search.grows &= fastest.has_value();
    if (!search.grows)
      continue;
    double seconds = search.prefixes[first]->seconds + fastest->seconds;
    std::optional<Prefix> &prefix = search.prefixes[end];
    if (!prefix || seconds < prefix->seconds)
      prefix = Prefix{seconds, first, std::move(fastest->launch)};
  }
}

/// Why no launch has room: what a thread multiplies takes more registers than
/// there are, or a fibre of some factor more shared memory.
std::string Planner::getReason() const {
  int64_t threads = given.get("threads"), ctas = given.get("ctas_per_sm");
  threads = threads ? threads : tiles.leastThreads;
  if (auto reason = getCtasReason(ctas, threads, machine))
    return *reason;
  for (unsigned number = 0; number < chain.products.size(); ++number) {
    SimtLaunch launch =
        describeSimtLaunch(chain, number, number + 1, tiles.factorBytes);
    launch.directStore = true;
    launch.ctasPerSM = std::max<int64_t>(ctas, 1);
    if (fits(launch, SmallVector<int64_t>(launch.after.size(), 1)) &&
        !SimtCost(describeSimtArrays(fused, chain, number, number + 1), launch,
                  chain.element, machine)
             .choose(launch, threads, std::numeric_limits<double>::infinity()))
      return ("one result of a fibre does not fit in the " +
              Twine(machine.getRegistersPerThread(threads, launch.ctasPerSM)) +
              " registers of a thread that " + Twine(threads) +
              " threads and " + Twine(launch.ctasPerSM) + " CTAs per SM leave")
          .str();
  }
  return "one fibre of a factor does not fit shared memory";
}

std::variant<SimtPlan, std::string> Planner::run() {
  unsigned count = chain.products.size();
  int64_t wanted = given.get("threads");
  SmallVector<ThreadSearch> searches;
  for (int64_t threads = tiles.leastThreads; threads <= tiles.mostThreads;
       threads *= 2) {
    ThreadSearch &search = searches.emplace_back();
    search.threads = wanted ? wanted : threads;
    search.prefixes.resize(count + 1);
    search.prefixes[0].emplace();
    if (wanted)
      break;
  }
  for (unsigned first = 0; first < count; ++first) {
    for (ThreadSearch &search : searches)
      search.grows = search.prefixes[first].has_value();
    auto grows = [](const ThreadSearch &search) { return search.grows; };
    for (unsigned end = first + 1;
         end <= count && llvm::any_of(searches, grows); ++end)
      extend(first, end, searches);
  }
  std::optional<double> least;
  SimtPlan best;
  for (const ThreadSearch &search : searches) {
    const std::optional<Prefix> &all = search.prefixes[count];
    if (!all || (least && all->seconds >= *least))
      continue;
    least = all->seconds;
    best = {search.threads, {}};
    for (unsigned end = count; end > 0; end = search.prefixes[end]->first)
      best.launches.insert(best.launches.begin(), search.prefixes[end]->launch);
  }
  if (!given.get("tile") && !given.get("columns"))
    if (auto direct = planDirectLaunch(fused, chain, wanted,
                                       given.get("ctas_per_sm"), machine);
        direct && (!least || direct->second < *least))
      return direct->first;
  if (!least)
    return getReason();
  return best;
}

std::optional<KernelTime> kron::estimateSimt(FusedOp fused, GPUPlanAttr plan,
                                             const GPUMachine &machine) {
  std::variant<SimtPlan, std::string> found = readSimtPlan(fused, plan);
  std::variant<SimtChain, std::string> chain = describeSimt(fused);
  auto *read = std::get_if<SimtPlan>(&found);
  if (!read)
    return std::nullopt;
  if (read->launches.front().directLoad)
    return estimateDirectLaunch(fused, read->launches.front(), read->threads,
                                machine);
  const SimtChain &described = std::get<SimtChain>(chain);
  if (llvm::is_contained(described.shapes.back(), ShapedType::kDynamic))
    return std::nullopt;
  KernelTime all;
  unsigned first = 0;
  for (const SimtLaunch &launch : read->launches) {
    unsigned end = first + launch.steps.size();
    KernelTime time =
        estimateSharedLaunch(describeSimtArrays(fused, described, first, end),
                             launch, described.element, read->threads, machine);
    all.floor += time.floor;
    all.memory += time.memory;
    all.arithmetic += time.arithmetic;
    all.shared += time.shared;
    all.total += time.total;
    first = end;
  }
  return all;
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planSimt(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  std::variant<SimtPlan, std::string> found;
  if (given && given.has("launches")) {
    if (!given.has("threads"))
      given = given.with("threads", getGPUTiles(machine).simt.leastThreads);
    found = readSimtPlan(fused, given);
  } else {
    std::variant<SimtChain, std::string> chain = describeSimt(fused);
    if (auto *reason = std::get_if<std::string>(&chain))
      return *reason;
    found = Planner(fused, machine, std::get<SimtChain>(chain)).run();
  }
  auto *plan = std::get_if<SimtPlan>(&found);
  if (!plan)
    return std::get<std::string>(found);
  for (const SimtLaunch &launch : plan->launches) {
    if (auto reason = getSharedMemoryReason(launch.sharedBytes,
                                            /*ctasPerSM=*/1, machine))
      return *reason;
    if (auto reason = getCtasReason(launch.ctasPerSM, plan->threads, machine))
      return *reason;
  }
  // A list that is given stays as it is written.
  if (given && given.has("launches"))
    return SmallVector<GPUPlanAttr>{given};
  return SmallVector<GPUPlanAttr>{writePlan(fused.getContext(), *plan)};
}
