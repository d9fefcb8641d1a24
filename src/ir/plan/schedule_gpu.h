/* schedule_gpu.h: the schedules for a GPU, one file a shape. Each looks at a nest and says whether it is one of its own. */
#ifndef KILN_SCHEDULE_GPU_H
#define KILN_SCHEDULE_GPU_H
#include "ir/plan/emit.h"

/* *done: the nest is scheduled; else nothing has happened. */
kn_status schedule_gpu_reduce(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);   /* reductions in one pass */
kn_status schedule_gpu_row(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);      /* chains of them */
kn_status schedule_gpu_scan(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m);
#endif
