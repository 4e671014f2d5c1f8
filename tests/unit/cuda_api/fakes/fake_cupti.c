// The CUPTI calls that app/cuda_api/cupti.cpp takes, for one GPU of the chip FAKE1. As strict as the library: a structure of
// another size than CUPTI 12.6 and 13.0 have (their headers' macros), a pointer that is null or of another object, or a call
// out of order is refused with the code that it would give. What it sees is in $ATTNSCOPE_FAKE_FAILS and in the variables
// below; a test reads fake_cupti_* through dlsym.
#include <math.h>
#include <signal.h>
#include <stdint.h>

#include "fails.h"

enum { invalid_parameter = 1, invalid_operation = 7, invalid_metric = 17 };

static struct {
  int begun, hosts, enabled, configured, started, pushed, decoded, launched_ranges, passes_done;
  int sampling, set, sampled, taken, waited;  // PC sampling: on, with settings, in a range, calls that got data of it or none yet
  uint32_t period;
} state;
int fake_cupti_in_range(void) { return state.pushed; }
int fake_cupti_sampling(void) { return state.sampled ? 2 : state.sampling; }
int fake_cupti_period(void) { return (int)state.period; }
int fake_cupti_open(void) { return state.hosts + state.enabled + state.sampling; }  // what was not given back
int fake_cupti_passes(void) { return state.passes_done; }

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}
static int is(const char* what) { return strcmp(setting("ATTNSCOPE_FAKE_CUPTI"), what) == 0; }

// The code that a call is refused with; 0: it is not.
static int refused(const char* call) {
  if (!fails(call)) return 0;
  if (is("kill")) raise(SIGKILL);
  const int code = atoi(setting("ATTNSCOPE_FAKE_CODE"));
  return code ? code : 999;
}

struct head { size_t size; void* reserved; };
static int sound(const void* params, size_t size) {
  const struct head* head = params;
  return head && head->size == size && head->reserved == 0;
}
#define BEGIN(call, size, order)                                     \
  if (refused(#call)) return refused(#call);                         \
  if (!sound(p, size)) return invalid_parameter;                     \
  if (!(order)) return invalid_operation;

static int host_object, range_object;
static const char config_bytes[] = "config";
enum { kConfig = sizeof config_bytes, kData = 64, kPasses = 3 };

int cuptiGetResultString(int code, const char** text) {
  *text = code == 35   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : code == 26 ? "CUPTI_ERROR_HARDWARE_BUSY"
          : code == 1  ? "CUPTI_ERROR_INVALID_PARAMETER"
          : code == 7  ? "CUPTI_ERROR_INVALID_OPERATION"
                       : 0;
  return *text ? 0 : 1;
}

int cuptiProfilerInitialize(struct head* p) {
  BEGIN(cuptiProfilerInitialize, 16, 1)
  if (!state.begun) memset(&state, 0, sizeof state);
  return state.begun = 1, 0;
}

struct supported { struct head head; int device, all, architecture, sli, vgpu, confidential, mining, wsl, api; };
int cuptiProfilerDeviceSupported(struct supported* p) {
  BEGIN(cuptiProfilerDeviceSupported, 52, state.begun)
  if (p->device != 0 || (p->api != 0 && p->api != 1)) return 2;  // range profiling, PC sampling
  p->all = p->architecture = p->sli = p->vgpu = p->confidential = p->mining = p->wsl = 3;
  if (is("vgpu")) p->all = 1, p->vgpu = 2;
  if (is("silent")) p->all = 1;
  if (is("no sampling") && p->api == 1) p->all = 1, p->architecture = 1;
  return 0;
}

struct chip { struct head head; size_t device; const char* name; };
int cuptiDeviceGetChipName(struct chip* p) {
  BEGIN(cuptiDeviceGetChipName, 32, state.begun)
  return p->name = "FAKE1", p->device == 0 ? 0 : 2;
}

struct host { struct head head; int profiler; const char* chip; const uint8_t* availability; void* host; };
int cuptiProfilerHostInitialize(struct host* p) {
  BEGIN(cuptiProfilerHostInitialize, 48, state.begun)
  if (p->profiler != 0 || !p->chip || strcmp(p->chip, "FAKE1") != 0) return invalid_parameter;
  return p->host = &host_object, ++state.hosts, 0;
}
struct host_end { struct head head; void* host; };
int cuptiProfilerHostDeinitialize(struct host_end* p) {
  BEGIN(cuptiProfilerHostDeinitialize, 24, state.hosts > 0 && p->host == &host_object)
  return --state.hosts, 0;
}

static const char* const kMetrics[] = {
    "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "dram__bytes_op_read.sum",  // a newer chip's names
    "dram__bytes_op_write.sum",
};
static int index_of(const char* name) {
  for (int i = 0; i < (int)(sizeof kMetrics / sizeof *kMetrics); ++i)
    if (strcmp(name, kMetrics[i]) == 0 && strcmp(name, setting("ATTNSCOPE_FAKE_LACKS")) != 0 && !is("no metrics")) return i;
  return -1;
}

struct metrics { struct head head; void* host; const char** names; size_t count; };
int cuptiProfilerHostConfigAddMetrics(struct metrics* p) {
  BEGIN(cuptiProfilerHostConfigAddMetrics, 40, state.hosts > 0)
  if (p->host != &host_object || !p->names || p->count == 0) return invalid_parameter;
  for (size_t i = 0; i < p->count; ++i)
    if (index_of(p->names[i]) < 0) return invalid_metric;
  return 0;
}
struct config_size { struct head head; void* host; size_t bytes; };
int cuptiProfilerHostGetConfigImageSize(struct config_size* p) {
  BEGIN(cuptiProfilerHostGetConfigImageSize, 32, p->host == &host_object)
  return p->bytes = kConfig, 0;
}
struct config_image { struct head head; void* host; size_t bytes; uint8_t* image; };
int cuptiProfilerHostGetConfigImage(struct config_image* p) {
  BEGIN(cuptiProfilerHostGetConfigImage, 40, p->host == &host_object)
  if (p->bytes != kConfig || !p->image) return invalid_parameter;
  return memcpy(p->image, config_bytes, kConfig), 0;
}
static int is_config(size_t bytes, const uint8_t* image) {
  return bytes == kConfig && image && memcmp(image, config_bytes, kConfig) == 0;
}
struct passes { struct head head; size_t bytes; uint8_t* image; size_t passes; };
int cuptiProfilerHostGetNumOfPasses(struct passes* p) {
  BEGIN(cuptiProfilerHostGetNumOfPasses, 40, is_config(p->bytes, p->image))
  return p->passes = kPasses, 0;
}

struct enable { struct head head; void* context; void* ranges; };
int cuptiRangeProfilerEnable(struct enable* p) {
  BEGIN(cuptiRangeProfilerEnable, 32, state.begun && !state.enabled && !state.sampling)
  if (!p->context) return 3;
  return p->ranges = &range_object, state.enabled = 1, 0;
}
struct range { struct head head; void* ranges; };
static int is_ours(const struct range* p) { return state.enabled && p->ranges == &range_object; }
int cuptiRangeProfilerDisable(struct range* p) {
  BEGIN(cuptiRangeProfilerDisable, 24, is_ours(p))
  state.configured = state.started = state.pushed = 0;
  return state.enabled = 0, 0;
}
struct data_size { struct range range; const char** names; size_t count, most_ranges; uint32_t most_nodes; size_t bytes; };
int cuptiRangeProfilerGetCounterDataSize(struct data_size* p) {
  BEGIN(cuptiRangeProfilerGetCounterDataSize, 64, is_ours(&p->range))
  if (!p->names || p->count == 0 || p->most_ranges == 0 || p->most_nodes < p->most_ranges) return invalid_parameter;
  return p->bytes = kData, 0;
}
struct data { struct range range; size_t bytes; uint8_t* image; };
int cuptiRangeProfilerCounterDataImageInitialize(struct data* p) {
  BEGIN(cuptiRangeProfilerCounterDataImageInitialize, 40, is_ours(&p->range))
  if (p->bytes != kData || !p->image) return invalid_parameter;
  return memset(p->image, 7, kData), 0;
}
struct config {
  struct range range;
  size_t config_bytes;
  const uint8_t* config;
  size_t data_bytes;
  uint8_t* data;
  int kind, replay;
  size_t most_ranges;
  uint16_t levels, least_level;
  size_t pass;
  uint16_t target_level;
};
static uint8_t* data_image;
int cuptiRangeProfilerSetConfig(struct config* p) {
  BEGIN(cuptiRangeProfilerSetConfig, 90, is_ours(&p->range))
  if (!is_config(p->config_bytes, p->config) || p->data_bytes != kData || !p->data || p->data[0] != 7) return invalid_parameter;
  if (p->kind != 2 || p->replay != 3 || p->most_ranges != 1 || p->levels != 1 || p->least_level != 1 || p->pass != 0)
    return invalid_parameter;  // user ranges, user replay
  return data_image = p->data, state.configured = 1, state.passes_done = 0, 0;
}
int cuptiRangeProfilerStart(struct range* p) {
  BEGIN(cuptiRangeProfilerStart, 24, is_ours(p) && state.configured && !state.started)
  return state.started = 1, 0;
}
struct push { struct range range; const char* name; };
int cuptiRangeProfilerPushRange(struct push* p) {
  BEGIN(cuptiRangeProfilerPushRange, 32, is_ours(&p->range) && state.started && !state.pushed)
  return p->name && *p->name ? (state.pushed = 1, 0) : invalid_parameter;
}
int cuptiRangeProfilerPopRange(struct range* p) {
  BEGIN(cuptiRangeProfilerPopRange, 24, is_ours(p) && state.pushed)
  return state.pushed = 0, 0;
}
struct stop { struct range range; size_t pass, level; uint8_t all; };
int cuptiRangeProfilerStop(struct stop* p) {
  BEGIN(cuptiRangeProfilerStop, 41, is_ours(&p->range) && state.started && !state.pushed)
  state.started = 0;
  p->pass = (size_t)++state.passes_done;
  return p->all = state.passes_done == kPasses && !is("endless"), 0;
}
struct decode { struct range range; size_t dropped; };
int cuptiRangeProfilerDecodeData(struct decode* p) {
  BEGIN(cuptiRangeProfilerDecodeData, 32, is_ours(&p->range) && state.passes_done == kPasses && !state.started)
  data_image[0] = 9;
  return p->dropped = is("dropped"), 0;
}
struct info { struct head head; const uint8_t* image; size_t bytes, ranges; };
int cuptiRangeProfilerGetCounterDataInfo(struct info* p) {
  BEGIN(cuptiRangeProfilerGetCounterDataInfo, 40, p->image == data_image && p->bytes == kData && data_image[0] == 9)
  return p->ranges = is("two ranges") ? 2 : 1, 0;
}
struct evaluate { struct head head; void* host; const uint8_t* image; size_t bytes, range; const char** names; size_t count; double* values; };
int cuptiProfilerHostEvaluateToGpuValues(struct evaluate* p) {
  BEGIN(cuptiProfilerHostEvaluateToGpuValues, 72, p->host == &host_object && p->image == data_image && data_image[0] == 9)
  if (p->bytes != kData || p->range != 0 || !p->names || !p->values || p->count == 0) return invalid_parameter;
  for (size_t i = 0; i < p->count; ++i) {
    const int at = index_of(p->names[i]);
    if (at < 0) return invalid_metric;
    p->values[i] = is("not a number") && at == 2 ? NAN : at < 4 ? 10.5 + at : 1000.0 * at;
  }
  return 0;
}

// PC sampling. It gives the same samples of each range: two instructions of attention_minimal, and one of other code, in
// two calls. $ATTNSCOPE_FAKE_CUPTI names what it then does wrong.
struct context { struct head head; void* context; };
int cuptiPCSamplingEnable(struct context* p) {
  BEGIN(cuptiPCSamplingEnable, 24, !state.sampling && !state.enabled)
  if (!p->context) return invalid_parameter;
  return state.sampling = 1, state.set = state.sampled = state.taken = 0, 0;
}
static int samples_here(const struct context* p) { return state.sampling && p->context; }
int cuptiPCSamplingDisable(struct context* p) {
  BEGIN(cuptiPCSamplingDisable, 24, samples_here(p))
  return state.sampling = state.sampled = state.set = 0, 0;
}

static const char* const kReasons[] = {"smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_barrier",
                                       "smsp__pcsamp_warps_issue_stalled_barrier_not_issued",
                                       "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_sample_count"};
enum { kReasonCount = 5, kFirstReason = 7, kName = 128, kFront = sizeof "smsp__pcsamp_warps_issue_stalled_" - 1 };
struct reason_count { struct context context; size_t* count; };
int cuptiPCSamplingGetNumStallReasons(struct reason_count* p) {
  BEGIN(cuptiPCSamplingGetNumStallReasons, 32, samples_here(&p->context))
  if (!p->count) return invalid_parameter;
  return *p->count = is("no reasons") ? 0 : kReasonCount, 0;
}
struct reasons { struct context context; size_t count; uint32_t* indices; char** names; };
int cuptiPCSamplingGetStallReasons(struct reasons* p) {
  BEGIN(cuptiPCSamplingGetStallReasons, 48, samples_here(&p->context))
  if (p->count != kReasonCount || !p->indices || !p->names) return invalid_parameter;
  for (uint32_t i = 0; i < kReasonCount; ++i) {
    if (!p->names[i]) return invalid_parameter;
    memset(p->names[i], 'x', kName);  // each has that much room
    strcpy(p->names[i], kReasons[i]);
    if (is("long name")) memset(p->names[i] + kFront, 'x', kName - kFront);  // without an end
    p->indices[i] = kFirstReason + (is("one number") ? 0 : i);
  }
  return 0;
}

struct stall { uint32_t reason, samples; };
struct pc {
  size_t size;
  uint64_t crc, offset;
  uint32_t function_index, padding;
  const char* function;
  size_t reason_count;
  struct stall* reasons;
  uint32_t correlation;
};
struct pcs {
  size_t size, most;
  uint64_t samples, dropped;
  size_t count, remaining;
  uint64_t range;
  struct pc* all;
  uint64_t other;
  uint8_t full;
};
static int takes_pcs(const struct pcs* p) {
  if (!p || p->size != 80 || p->most < 2 || !p->all) return 0;
  for (size_t i = 0; i < p->most; ++i)
    if (p->all[i].size != 64 || !p->all[i].reasons) return 0;  // each has room for every reason
  return 1;
}
struct setting {
  int attribute, status;
  union { uint64_t words[3]; uint32_t number; const struct pcs* data; struct { size_t count; const uint32_t* all; } reasons; } value;
};
struct settings { struct context context; size_t count; struct setting* all; };
static const struct pcs* kept_in;  // where records go when a kernel ends
static int is_taken(const struct setting* one) {
  switch (one->attribute) {
    case 1: return one->value.number >= 5 && one->value.number <= 31 && (state.period = one->value.number);
    case 2:
      if (one->value.reasons.count != kReasonCount || !one->value.reasons.all) return 0;
      for (uint32_t i = 0; i < kReasonCount; ++i)
        if (one->value.reasons.all[i] != kFirstReason + i) return 0;
      return 1;
    case 3: case 4: return one->value.words[0] >= 1 << 20;
    case 5: return one->value.number == 2;          // each kernel by itself
    case 6: case 7: return one->value.number == 1;  // by start and stop, parsed
    case 8: return takes_pcs(kept_in = one->value.data);
    default: return 0;
  }
}
int cuptiPCSamplingSetConfigurationAttribute(struct settings* p) {
  BEGIN(cuptiPCSamplingSetConfigurationAttribute, 40, samples_here(&p->context) && !state.sampled)
  int seen = 0;
  for (size_t i = 0; p->all && i < p->count; ++i) {
    if (!is_taken(&p->all[i])) return p->all[i].status = invalid_operation, invalid_operation;
    seen |= 1 << p->all[i].attribute;
  }
  return state.set = (seen & 0x142) == 0x142, state.set ? 0 : invalid_parameter;  // a period, start and stop, a buffer
}
int cuptiPCSamplingStart(struct context* p) {
  BEGIN(cuptiPCSamplingStart, 24, samples_here(p) && state.set && !state.sampled)
  return state.sampled = 1, state.taken = state.waited = 0, 0;
}
int cuptiPCSamplingStop(struct context* p) {
  BEGIN(cuptiPCSamplingStop, 24, samples_here(p) && state.sampled)
  return state.sampled = 0, 0;
}

static uint64_t crc_of(size_t bytes, const uint8_t* cubin) {
  uint64_t sum = bytes;
  for (size_t i = 0; i < bytes; ++i) sum = sum * 31 + cubin[i];
  return sum;
}
static uint64_t last_crc;
struct crc { size_t size, bytes; const uint8_t* cubin; uint64_t crc; };
int cuptiGetCubinCrc(struct crc* p) {
  if (refused("cuptiGetCubinCrc")) return refused("cuptiGetCubinCrc");
  if (p->size != 32 || !p->bytes || !p->cubin) return invalid_parameter;
  return p->crc = last_crc = crc_of(p->bytes, p->cubin), 0;
}

static void give(struct pc* to, const char* function, uint64_t offset, uint32_t selected, uint32_t barrier, uint32_t unissued) {
  const struct stall all[] = {{kFirstReason, selected}, {kFirstReason + 1, barrier}, {kFirstReason + 2, unissued},
                              {kFirstReason + 4, selected + barrier}};
  to->crc = last_crc;
  to->offset = is("far offset") ? 1u << 30 : is("odd offset") ? 8 : offset;
  to->function = is("no function") ? 0 : function;
  memcpy(to->reasons, all, sizeof all);
  if (is("unknown reason")) to->reasons[1].reason = 99;
  to->reason_count = is("many reasons") ? 6 : 4;
}
struct get { struct context context; struct pcs* data; };
int cuptiPCSamplingGetData(struct get* p) {
  BEGIN(cuptiPCSamplingGetData, 32, samples_here(&p->context) && state.set && !state.sampled)
  struct pcs* to = p->data;
  if (!takes_pcs(to)) return invalid_parameter;
  if (to == kept_in) return to->count = to->remaining = 0, 0;  // as the real one: it says nothing and gives none
  to->full = 0;
  if (is("full") ? state.period < 18 : is("always full")) return to->full = 1, to->count = 0, 8;
  to->count = to->remaining = 0;
  if (is("no samples") || (is("late") && ++state.waited < 3)) return 0;
  for (size_t i = 0; i < to->most; ++i)
    if (to->all[i].reason_count != kReasonCount) return invalid_parameter;
  if (++state.taken == 1 || is("endless samples")) {
    give(&to->all[0], "attention_minimal", 0x20, 1000, 3000, 2000);
    give(&to->all[1], "another", 0x10, 70, 0, 0);
    to->count = is("many places") ? to->most + 1 : 2;
    return to->remaining = 1, to->dropped = 5, 0;
  }
  if (state.taken > 2) return 0;
  give(&to->all[0], "attention_minimal", 0x40, 2500, 500, 0);
  return to->count = 1, to->dropped = 0, 0;
}
